"""Each command as a process on a database that can't serve it: one clear line, a status, no traceback."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from django_leasejobs.management import commands
from tests.commands.calling import Called, call, shell

ARGUMENTS = {
    "trigger_job": ["report", "--wait"],
    "backfill_job": ["report", "--from", "2026-01-01", "--to", "2026-01-02"],
    "import_crontab": ["-"],
}
NEED_NO_DATABASE = {"preview_schedule"}
NAMES = {module.name for module in pkgutil.iter_modules(commands.__path__)} - NEED_NO_DATABASE
COMMANDS = {name: [name, *ARGUMENTS.get(name, [])] for name in sorted(NAMES)}
UNREACHABLE = {
    "sqlite": ("sqlite:////nowhere/at/all.sqlite3", "unable to open database file"),
    "postgresql": ("postgres://nobody@127.0.0.1:1/nothing", "onnection"),
    "mysql": ("mysql://nobody@127.0.0.1:1/nothing", "onnect"),
}


def expected_status(arguments: list[str]) -> int:
    """A check that can't be made is as bad as it gets."""
    return 2 if arguments[0] == "check_jobs" else 1


def require_one_line(called: Called, arguments: list[str], words: str) -> None:
    assert called.status == expected_status(arguments)
    assert called.out == ""
    assert called.err.startswith("CommandError: The database 'default' ")
    assert words in called.err
    assert called.err.count("\n") == 1


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_database_out_of_reach(arguments: list[str]) -> None:
    url, words = UNREACHABLE[connection.vendor]

    require_one_line(shell(*arguments, DATABASE_URL=url), arguments, words)


@pytest.fixture
def empty_database_url(database_url: str, tmp_path: Path) -> Iterator[str]:
    """The URL of a database beside the test's, without any table."""
    if connection.vendor == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.sqlite3'}"
        return
    name = f"{connection.settings_dict['NAME']}_empty"
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    try:
        yield database_url.replace(f"/{connection.settings_dict['NAME']}", f"/{name}")
    finally:
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name}")


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_database_without_the_tables(arguments: list[str], empty_database_url: str) -> None:
    called = shell(*arguments, DATABASE_URL=empty_database_url)

    require_one_line(called, arguments, "lacks the migration leasejobs.0001_initial. Run: python manage.py migrate")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("These are my notes, and no database at all." * 100)

    # Django itself forgets to close the connection that turned out to be none, which the dev mode would tell.
    called = shell("list_jobs", DATABASE_URL=f"sqlite:///{tmp_path / 'notes.txt'}", PYTHONDEVMODE="")

    require_one_line(called, ["list_jobs"], "file is not a database")


@pytest.mark.django_db
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_database_that_lacks_a_migration(arguments: list[str]) -> None:
    MigrationRecorder(connection).record_unapplied("leasejobs", "0001_initial")

    called = call(*arguments)

    assert called == Called(
        expected_status(arguments),
        "",
        "The database 'default' lacks the migration leasejobs.0001_initial. Run: python manage.py migrate leasejobs",
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("arguments", [["list_jobs"], ["check_jobs"], ["prune_runs"]], ids=lambda value: value[0])
def test_a_table_that_is_gone_behind_our_back(arguments: list[str]) -> None:
    """Whatever the database says goes out as one line."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE leasejobs_run RENAME TO somewhere_else")
    try:
        called = call(*arguments)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE somewhere_else RENAME TO leasejobs_run")

    assert called.status == expected_status(arguments)
    assert called.err.startswith("The database 'default' failed: ")
    assert "leasejobs_run" in called.err
    assert "\n" not in called.err
