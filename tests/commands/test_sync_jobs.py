from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from django_leasejobs import job
from django_leasejobs.models import Job, Source
from django_leasejobs.registry import Refused, registry
from tests.commands.calling import Called, call
from tests.support.factories import make_job, make_worker, noop, now

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_code() -> None:
    registry.jobs.clear()


def define(name: str, schedule: str = "0 2 * * *", **options: Any) -> None:
    """Let the code define a job, or define it otherwise than before."""
    registry.jobs.pop(name, None)
    job(schedule, name=name, **options)(noop)


def rows() -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in Job.objects.values()}


def test_new_jobs_are_created() -> None:
    define("mail.send")
    define("mail.clear", "@every 1h")

    assert call("sync_jobs") == Called(0, "mail.send: created\nmail.clear: created\n")
    assert {name: row["source"] for name, row in rows().items()} == {"mail.send": "code", "mail.clear": "code"}


def test_a_second_sync_finds_nothing_to_do() -> None:
    define("mail.send")
    call("sync_jobs")
    before = rows()

    assert call("sync_jobs") == Called(0, "Nothing to change: 1 jobs in the code.\n")
    assert call("sync_jobs", "--check") == Called(0, "Nothing to change: 1 jobs in the code.\n")
    assert rows() == before


def test_without_jobs_there_is_nothing_to_do() -> None:
    assert call("sync_jobs") == Called(0, "Nothing to change: 0 jobs in the code.\n")


def test_a_check_prints_the_difference_changes_nothing_and_fails() -> None:
    make_job(name="old", source=Source.CODE, task="old")
    make_job(name="back", source=Source.CODE, task="back", retired_at=now(), enabled=False)
    define("changed")
    call("sync_jobs")
    Job.objects.filter(name="old").update(retired_at=None)
    for name in ("changed", "back", "new"):
        define(name, "0 3 * * *", retries=4)
    before = rows()

    called = call("sync_jobs", "--check")

    assert called.status == 1
    assert called.lines == [
        "new: would be created",
        "changed: would be updated",
        "    schedule: 0 2 * * * -> 0 3 * * *",
        "    retries: 0 -> 4",
        "back: would be revived, the code defines it again",
        "old: would be retired, no code defines it any more",
    ]
    assert rows() == before


def test_what_the_code_says_now_is_taken_over() -> None:
    define("mail.send")
    call("sync_jobs")
    define("mail.send", "0 3 * * *", timeout="90s", kwargs={"day": 1}, description="two\nlines")

    assert call("sync_jobs").lines == [
        "mail.send: updated",
        "    description: Do nothing. -> two\\nlines",
        "    kwargs: {} -> {'day': 1}",
        "    schedule: 0 2 * * * -> 0 3 * * *",
        "    timeout: - -> 1m30s",
    ]
    assert rows()["mail.send"]["schedule"] == "0 3 * * *"


def test_a_job_that_left_the_code_is_retired_and_comes_back() -> None:
    define("mail.send")
    call("sync_jobs")
    definition = registry.jobs.pop("mail.send")

    assert call("sync_jobs") == Called(0, "mail.send: retired, no code defines it any more\n")
    assert rows()["mail.send"]["retired_at"] is not None

    registry.jobs["mail.send"] = definition
    assert call("sync_jobs") == Called(0, "mail.send: revived, the code defines it again\n")
    assert rows()["mail.send"]["retired_at"] is None


def test_a_job_of_another_running_deployment_is_kept() -> None:
    """I7: a deployment's sync never takes away what another deployment defined."""
    make_job(name="theirs", source=Source.CODE, task="theirs")
    make_worker(tasks=["theirs"])

    called = call("sync_jobs", "--check")

    assert called.status == 0
    assert called.lines == [
        "theirs: kept, as a running worker's code still knows its task",
        "Nothing to change: 0 jobs in the code.",
    ]
    assert rows()["theirs"]["retired_at"] is None


def test_a_job_of_an_admin_with_the_same_name_is_reported_and_stays() -> None:
    make_job(name="mail.send", schedule="5 5 * * *", spread=timedelta(seconds=5))
    define("mail.send")
    before = rows()

    called = call("sync_jobs")

    assert (called.status, called.lines) == (0, ["Nothing to change: 1 jobs in the code."])
    assert called.err == (
        "Conflict: the code defines 'mail.send', but a job of this name was added in the admin and stays as it is."
        " Rename or delete one of them.\n"
    )
    assert rows() == before


@pytest.mark.parametrize("command", [["sync_jobs"], ["sync_jobs", "--check"], ["run_job_worker", "--drain"]])
def test_code_that_did_not_load_retires_nothing(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """``call_command`` skips the system checks, which would say it."""
    make_job(name="mail.send", source=Source.CODE, task="mail.send")
    monkeypatch.setattr(registry, "refused", [Refused(place="mail/jobs.py:7", words="schedule: minute 61")])
    before = rows()

    assert call(*command) == Called(1, "", "mail/jobs.py:7: schedule: minute 61")
    assert rows() == before
