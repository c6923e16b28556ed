from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.core.management import CommandError
from django.db import DatabaseError, InterfaceError, OperationalError

from django_leasejobs.engine.readiness import NotReady
from django_leasejobs.exceptions import ScheduleError, UnknownJob
from django_leasejobs.management.output import as_json, cell, explained_errors, table
from tests.support.factories import make_job
from tests.support.processes import ROOT, WorkerProcesses

WHEN = datetime(2026, 3, 1, 3, 30, 15, 500_000, tzinfo=timezone(timedelta(hours=2)))


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    text = table(("name", "state"), [("a", "active"), ("a-long-name", ""), ("b", None)], empty="none")

    assert text.splitlines() == [
        "NAME         STATE",
        "a            active",
        "a-long-name  -",
        "b            -",
    ]


def test_a_table_without_rows_says_so() -> None:
    assert table(("name",), [], empty="There is nothing.") == "There is nothing."


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "-"),
        ("", "-"),
        (0, "0"),
        (WHEN, "2026-03-01 01:30:15Z"),
        (timedelta(seconds=90.7), "1m30s"),
        ("Übung 日本", "Übung 日本"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("left\u202eright", "left\\u202eright"),
    ],
)
def test_a_cell_is_one_line_that_steers_no_terminal(value: object, expected: str) -> None:
    assert cell(value) == expected


def test_json_has_instants_in_utc_and_seconds() -> None:
    written = as_json([{"at": WHEN, "late": timedelta(minutes=1.5), "none": None, "name": "ü\n"}])

    assert json.loads(written) == [{"at": "2026-03-01T01:30:15.500000Z", "late": 90.0, "none": None, "name": "ü\n"}]
    assert datetime.fromisoformat(json.loads(written)[0]["at"]) == WHEN.astimezone(UTC)


def test_json_refuses_what_it_has_no_form_for() -> None:
    with pytest.raises(TypeError, match="has no form in JSON"):
        as_json({"value": object()})


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (UnknownJob("There is no job named 'x'."), 3, "There is no job named 'x'."),
        (ScheduleError("minute 61", field="schedule"), 3, "schedule: minute 61"),
        (NotReady("It lacks a migration."), 3, "It lacks a migration."),
        (OperationalError("server gone\nmore of it"), 3, "The database 'default' failed: server gone"),
        (InterfaceError("closed"), 3, "The database 'default' failed: closed"),
        (DatabaseError(), 3, "The database 'default' failed: DatabaseError"),
        (KeyboardInterrupt(), 130, "Interrupted."),
    ],
)
def test_an_error_that_a_person_can_act_on_is_one_line_and_a_status(
    error: BaseException, status: int, words: str
) -> None:
    with pytest.raises(CommandError) as caught, explained_errors(3):
        raise error

    assert (str(caught.value), caught.value.returncode) == (words, status)


def test_a_fault_of_our_own_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), explained_errors():
        raise ZeroDivisionError


def test_a_reader_that_goes_away_is_no_error_to_look_at(workers: WorkerProcesses) -> None:
    """As ``list_jobs | head -1`` does."""
    make_job()
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), "list_jobs"],
        env=workers.environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None

    words = process.communicate(timeout=60)[1]

    assert (process.returncode, words) == (1, b"")
