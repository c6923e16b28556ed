"""The job tables in another database, and a router that reads from a replica."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.every_function import __file__ as every_function

ROOT = Path(every_function).resolve().parent.parent.parent


def test_every_function_reads_and_writes_where_the_router_writes(database_url: str) -> None:
    """The other aliases have no tables: whatever went there would fail."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.every_function"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": "tests.support.two_databases"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("delete_jobs 2")
