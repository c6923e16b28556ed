from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.commands.calling import Called, call, shell
from tests.support.factories import make_due_job, make_job, make_run, make_worker, now

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def test_all_is_well() -> None:
    make_worker()
    make_job(schedule="0 0 * * *", next_run_at=now() + MINUTE)

    assert call("check_jobs") == Called(0, "HEALTHY (jobs: 1, workers: 1, leases: 0)\n")


def test_json_when_all_is_well() -> None:
    make_worker()

    called = call("check_jobs", "--format", "json")

    found = json.loads(called.out)
    assert called.status == 0
    assert abs(datetime.fromisoformat(found.pop("now")) - now()) < MINUTE
    assert found == {"status": "healthy", "jobs": 0, "workers": 1, "leases": 0, "findings": []}


def test_an_empty_table_without_workers_is_a_warning() -> None:
    assert call("check_jobs") == Called(
        1, "WARNING (jobs: 0, workers: 0, leases: 0)\nWARNING   no-worker: No worker is running.\n"
    )


def test_the_worst_finding_decides_and_comes_first() -> None:
    make_worker(clock_offset=timedelta(minutes=2), name="w1")
    make_due_job(name="report", ago=timedelta(hours=1))

    called = call("check_jobs")

    assert called.status == 2
    assert called.lines[0] == "CRITICAL (jobs: 1, workers: 1, leases: 0)"
    assert called.lines[1].startswith("CRITICAL  late-job: Job report was due 1h")
    assert called.lines[2] == "WARNING   clock-offset: The clock of worker w1 is 2m ahead of the database's."


def test_json_has_the_findings() -> None:
    make_worker(clock_offset=timedelta(minutes=2), name="w1")

    called = call("check_jobs", "--format", "json")

    assert called.status == 1
    assert json.loads(called.out)["status"] == "warning"
    assert json.loads(called.out)["findings"] == [
        {
            "level": "warning",
            "code": "clock-offset",
            "subject": "w1",
            "words": "The clock of worker w1 is 2m ahead of the database's.",
        }
    ]


def test_a_finding_keeps_to_its_line() -> None:
    make_worker()
    make_job(name="a\nb", schedule="0 0 * * *", schedule_error="bad\x1b")

    assert call("check_jobs").lines[1:] == ["CRITICAL  schedule-error: Job a\\nb is not planned: bad\\x1b"]


def test_the_number_of_statements_does_not_grow_with_jobs_runs_and_workers() -> None:
    def fill() -> None:
        make_worker()
        failing = make_due_job(ago=timedelta(hours=1))
        for _ in range(3):
            make_run(failing, status="FAILED", finished_at=now())
        make_run(available_at=now() - timedelta(hours=1))

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            call("check_jobs")
        return len(queries)

    fill()
    few = count()
    for _ in range(30):
        fill()

    assert count() == few


@pytest.mark.parametrize("code", ["def oops(:", "import no_such_module"])
def test_code_that_cannot_be_imported_is_a_traceback_without_a_verdict(code: str, tmp_path: Path) -> None:
    """What the docs tell people to treat as not found out: Django loads the code before any command has a say."""
    app = tmp_path / "broken_app"
    app.mkdir()
    (app / "__init__.py").touch()
    (app / "jobs.py").write_text(f"{code}\n")
    (tmp_path / "broken_settings.py").write_text(
        "from testproject.settings import *\nINSTALLED_APPS = [*INSTALLED_APPS, 'broken_app']\n"
    )

    called = shell("check_jobs", DJANGO_SETTINGS_MODULE="broken_settings", PYTHONPATH=str(tmp_path))

    assert (called.status, called.out) == (1, "")
    assert str(app / "jobs.py") in called.err
