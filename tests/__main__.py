"""Runs the tests on each database.

``python -m tests [--databases sqlite,postgres,mariadb] [--browser] [pytest options]``; ``-n0`` runs one test at a time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATABASES = ("sqlite", "postgres", "mariadb")
# Many tests wait for real workers most of the time. Each of these has a database of its own on the server.
AT_A_TIME = (os.cpu_count() or 1) + 1
NEED_NO_DATABASE = ("schedules", "policies", "cases", "docs", "durations", "texts", "packaging")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests", description=__doc__)
    parser.add_argument("--databases", default="sqlite,postgres", help="Comma-separated: " + ", ".join(DATABASES))
    parser.add_argument("--browser", action="store_true", help="Also those in tests/browser: the extra 'browser'.")
    options, rest = parser.parse_known_args()
    names = [name.strip() for name in options.databases.split(",")]
    unknown = [name for name in names if name not in DATABASES]
    if unknown:
        parser.error(f"unknown database {unknown[0]!r}; known: {', '.join(DATABASES)}")
    failed = []
    for position, name in enumerate(names):
        print(f"== Tests on {name}", flush=True)
        ignored = () if position == 0 else NEED_NO_DATABASE
        if not options.browser:
            ignored = (*ignored, "browser")
        if run_tests(name, rest, ignored=ignored):
            failed.append(name)
            if position + 1 < len(names):
                print(f"== FAILED on {name}; going on with the next database", flush=True)
    if failed and failed != names[-1:]:
        # The closing line above may be green: what failed before it is not to be overlooked.
        print(f"== Tests failed on {', '.join(failed)}", file=sys.stderr, flush=True)
    return 1 if failed else 0


def run_tests(name: str, options: list[str], *, ignored: tuple[str, ...]) -> int:
    """Run pytest in a process of its own against one database; return its exit status."""
    with database_url(name) as url:
        environment = {**os.environ, "DATABASE_URL": url, "PYTHONDEVMODE": "1"}
        left_out = [f"--ignore=tests/{folder}" for folder in ignored]
        side_by_side = ["-n", str(AT_A_TIME), "--dist", "worksteal"]
        command = [sys.executable, "-m", "pytest", *side_by_side, *left_out, *options]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


@contextmanager
def database_url(name: str) -> Iterator[str]:
    """Provide a database and take it away afterwards."""
    if name == "postgres":
        from testproject.embedded_postgres import embedded_postgres

        with embedded_postgres(durable=False) as postgres:
            yield postgres.url
    elif name == "mariadb":
        from tests.support.mariadb import private_mariadb

        with private_mariadb() as mariadb:
            yield mariadb.url
    else:
        with tempfile.TemporaryDirectory(prefix="leasejobs-sqlite-") as folder:
            os.environ["TEST_SQLITE_FILE"] = str(Path(folder) / "test.sqlite3")
            yield f"sqlite:///{folder}/db.sqlite3"


if __name__ == "__main__":
    sys.exit(main())
