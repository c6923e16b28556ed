"""A command whose module can't be imported."""

from __future__ import annotations

import there_is_no_such_package  # noqa: F401
