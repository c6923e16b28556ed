from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.models import Job, RunStatus, Source
from tests.commands.calling import Called, call
from tests.support.factories import make_job, make_run, now

pytestmark = pytest.mark.django_db

NEXT = datetime(2099, 1, 2, 1, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def ended(job: Job, status: str, **values: Any) -> Any:
    return make_run(job, status=status, finished_at=values.pop("finished_at", None) or now(), **values)


def listed() -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in json.loads(call("list_jobs", "--format", "json").out)}


def test_without_jobs_it_says_what_to_do() -> None:
    words = "There are no jobs. Define some in a jobs.py and run sync_jobs, or add them in the admin.\n"

    assert call("list_jobs") == Called(0, words)
    assert json.loads(call("list_jobs", "--format", "json").out) == []


def test_the_table_has_a_line_for_each_job() -> None:
    report = make_job(name="report", schedule="0 2 * * *", timezone="Europe/Berlin", next_run_at=NEXT)
    ended(report, RunStatus.SUCCESSFUL, finished_at=datetime(2026, 1, 1, 1, 0, 7, tzinfo=UTC))
    by_hand = make_job(name="by-hand", source=Source.CODE, overlap="allow")
    for status in (RunStatus.RUNNING, RunStatus.RUNNING, RunStatus.READY):
        make_run(by_hand, status=status)
    make_run()

    lines = [re.split(r" {2,}", line) for line in call("list_jobs").lines]

    assert lines == [
        ["NAME", "SCHEDULE", "NEXT", "LATE", "NOW", "LAST OUTCOME", "ENDED", "DEFINED IN", "STATE"],
        ["by-hand", "only by hand", "-", "-", "2 running, 1 waiting", "-", "-", "code", "active"],
        ["report", "at 02:00 every day, Europe/Berlin", "2099-01-02 01:00:00Z", "-", "-", "SUCCESSFUL",
         "2026-01-01 01:00:07Z", "admin", "active"],
    ]  # fmt: skip


def test_json_has_every_column() -> None:
    report = make_job(name="report", task="shop.report", schedule="0 2 * * *", next_run_at=NEXT)
    run = ended(report, RunStatus.FAILED, finished_at=datetime(2026, 1, 1, 1, 0, 7, 250_000, tzinfo=UTC))

    assert json.loads(call("list_jobs", "--format", "json").out) == [
        {
            "name": "report",
            "task": "shop.report",
            "schedule": "0 2 * * *",
            "timezone": "UTC",
            "words": "at 02:00 every day, UTC",
            "next_run_at": "2099-01-02T01:00:00Z",
            "late": None,
            "running": 0,
            "waiting": 0,
            "last_status": "FAILED",
            "last_run": run.pk,
            "last_ended_at": "2026-01-01T01:00:07.250000Z",
            "source": "admin",
            "state": "active",
        }
    ]


def test_the_last_outcome_is_that_of_the_run_that_ended_last() -> None:
    job, other = make_job(name="a"), make_job(name="b")
    ended(job, RunStatus.FAILED, finished_at=now() - MINUTE)
    last = ended(job, RunStatus.CANCELLED, finished_at=now() - MINUTE / 2)
    ended(job, RunStatus.SUCCESSFUL, finished_at=now() - 2 * MINUTE)
    make_run(job)
    ended(job, RunStatus.SKIPPED)
    ended(other, RunStatus.SKIPPED)
    ended(make_job(name="c"), RunStatus.MISSED)

    assert {name: item["last_status"] for name, item in listed().items()} == {
        "a": "CANCELLED",
        "b": None,
        "c": "MISSED",
    }
    assert listed()["a"]["last_run"] == last.pk


def test_lateness_is_told_only_of_jobs_whose_schedule_is_followed() -> None:
    due = {"schedule": "* * * * *", "next_run_at": now() - 5 * MINUTE}
    make_job(name="late", **due)
    make_job(name="paused", paused_at=now(), **due)
    make_job(name="later", schedule="* * * * *", next_run_at=now() + 5 * MINUTE)

    late = {name: item["late"] for name, item in listed().items()}

    assert late == {"late": pytest.approx(300, abs=30), "paused": None, "later": None}
    assert "  5m" in next(line for line in call("list_jobs").lines if line.startswith("late "))


def test_the_state_says_why_a_job_is_not_followed() -> None:
    make_job(name="active")
    make_job(name="paused", paused_at=now())
    make_job(name="disabled", enabled=False, paused_at=now())
    make_job(name="retired", enabled=False, retired_at=now())
    make_job(name="broken", schedule="* * * * *", schedule_error="there is no calendar named 'x'")

    assert {name: item["state"] for name, item in listed().items()} == {
        name: name for name in ("active", "paused", "disabled", "retired", "broken")
    }


def test_a_schedule_that_cannot_be_read_spoils_only_its_own_line() -> None:
    make_job(name="bad", schedule="61 * * * *")
    make_job(name="nowhere", schedule="0 0 * * *", timezone="Mars/Base")
    make_job(name="good", schedule="0 0 * * *")

    words = {name: item["words"] for name, item in listed().items()}

    assert words["good"] == "at 00:00 every day, UTC"
    assert words["bad"].startswith("unreadable: minute: ")
    assert words["nowhere"].startswith("unreadable: timezone: ")


def test_a_name_with_control_characters_keeps_to_its_line() -> None:
    make_job(name="evil\n\x1b[2J")

    assert [line.split("  ")[0] for line in call("list_jobs").lines] == ["NAME", "evil\\n\\x1b[2J"]


def test_the_number_of_statements_does_not_grow_with_the_jobs() -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            call("list_jobs")
        return len(queries)

    ended(make_job(schedule="0 0 * * *"), RunStatus.SUCCESSFUL)
    few = count()
    for _ in range(40):
        ended(make_job(schedule="0 0 * * *"), RunStatus.FAILED)

    assert count() == few
