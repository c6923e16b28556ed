#!/usr/bin/env python
"""Runs management commands of the test project."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings")
    try:
        import environ  # noqa: F401  (the settings need it)
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError as error:
        sys.exit(f"The test project needs {error.name!r}. Run: {sys.executable} -m pip install -e '.[demo]'")
    if sys.argv[1:2] == ["demo"]:
        # It makes a database of its own, whatever the user's is.
        os.environ.pop("DATABASE_URL", None)
    execute_from_command_line(sys.argv)
