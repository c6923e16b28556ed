from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.engine.sync import Synced, sync_jobs
from django_leasejobs.models import Job, Run
from django_leasejobs.policies.calendars import Calendar
from django_leasejobs.policies.overlap import Overlap
from django_leasejobs.policies.planning_values import CatchUp
from django_leasejobs.registry import JobDefinition, Task, registry
from tests.support.factories import make_job, make_run, make_worker, noop, now
from tests.support.rows import HOUR, all_rows

pytestmark = pytest.mark.django_db

NOTHING = Synced(updated={})
FAR = datetime(2100, 1, 1, tzinfo=UTC)


def defined(name: str = "nightly", **values: Any) -> JobDefinition:
    values = {
        "task": Task(name=values.pop("task_name", name), func=noop),
        "description": "",
        "args": [],
        "kwargs": {},
        "schedule": "0 2 * * *",
        "timezone": "UTC",
        "starts_at": None,
        "ends_at": None,
        "exclude": [],
        "spread": timedelta(0),
        "queue": "default",
        "priority": 0,
        "retries": 0,
        "backoff": timedelta(seconds=10),
        "max_lost": 3,
        "lease": timedelta(seconds=60),
        "timeout": None,
        "overlap": Overlap.SKIP,
        "catch_up": CatchUp.LATEST,
        "start_deadline": None,
        "pause_after_failures": None,
        "enabled": True,
        **values,
    }
    return JobDefinition(name=name, **values)


def test_a_job_of_the_code_becomes_a_row_with_its_next_instant() -> None:
    synced = sync_jobs([defined(kwargs={"a": 1}, retries=2, overlap=Overlap.QUEUE)])

    job = Job.objects.get()
    assert synced == Synced(created=("nightly",), updated={})
    assert (job.name, job.task, job.source, job.kwargs, job.retries) == ("nightly", "nightly", "code", {"a": 1}, 2)
    assert (job.overlap, job.catch_up, job.enabled, job.planned_until) == ("queue", "latest", True, None)
    assert job.next_run_at is not None
    assert timedelta(0) < job.next_run_at - now() <= timedelta(days=1)
    assert job.next_run_at.hour == 2


def test_a_second_sync_changes_nothing() -> None:
    definitions = [defined(timezone="Europe/Berlin", timeout=timedelta(seconds=1), starts_at=FAR), defined("b")]
    sync_jobs(definitions)
    before = all_rows()

    assert sync_jobs(definitions) == NOTHING
    assert all_rows() == before


def test_a_dry_run_says_what_would_change_and_writes_nothing() -> None:
    sync_jobs([defined("gone"), defined("changed"), defined("same")])
    before = all_rows()

    synced = sync_jobs([defined("changed", retries=1), defined("same"), defined("new")], dry_run=True)

    assert synced == Synced(created=("new",), updated={"changed": {"retries": (0, 1)}}, retired=("gone",))
    assert synced.changes
    assert all_rows() == before


def test_what_the_code_changed_is_updated_and_named() -> None:
    sync_jobs([defined()])

    synced = sync_jobs([defined(queue="slow", lease=timedelta(seconds=90))])

    lease = (timedelta(seconds=60), timedelta(seconds=90))
    assert synced == Synced(updated={"nightly": {"queue": ("default", "slow"), "lease": lease}})
    assert Job.objects.values_list("queue", "lease").get() == ("slow", timedelta(seconds=90))


def test_a_change_beside_the_schedule_leaves_a_due_instant_due() -> None:
    """I2: a deployment in the minute of the instant must not lose it."""
    sync_jobs([defined()])
    due = now() - HOUR
    Job.objects.update(next_run_at=due)

    sync_jobs([defined(retries=5)])

    assert Job.objects.get().next_run_at == due


def test_a_new_schedule_counts_from_now() -> None:
    sync_jobs([defined()])
    Job.objects.update(next_run_at=now() - HOUR)

    synced = sync_jobs([defined(schedule="@every 15m")])

    job = Job.objects.get()
    assert synced.updated == {"nightly": {"schedule": ("0 2 * * *", "@every 15m")}}
    assert job.next_run_at is not None
    assert timedelta(0) < job.next_run_at - now() <= timedelta(minutes=15)


def test_a_pause_and_a_switch_by_hand_survive_a_sync() -> None:
    sync_jobs([defined("paused"), defined("off")])
    paused_at = now()
    Job.objects.filter(name="paused").update(paused_at=paused_at, paused_by="Ann", next_run_at=None)
    Job.objects.filter(name="off").update(enabled=False, next_run_at=None)

    sync_jobs([defined("paused", schedule="@every 15m"), defined("off", schedule="@every 15m")])

    rows = Job.objects.order_by("name").values_list("name", "paused_at", "enabled", "next_run_at", "schedule")
    assert list(rows) == [
        ("off", None, False, None, "@every 15m"),
        ("paused", paused_at, True, None, "@every 15m"),
    ]


def test_a_job_that_left_the_code_is_retired_and_not_deleted() -> None:
    sync_jobs([defined()])
    waiting = make_run(Job.objects.get())

    synced = sync_jobs([])

    job = Job.objects.get()
    assert synced == Synced(updated={}, retired=("nightly",))
    assert (job.enabled, job.next_run_at) == (False, None)
    assert job.retired_at is not None
    waiting.refresh_from_db()
    assert waiting.status == "READY"
    assert sync_jobs([]) == NOTHING


@pytest.mark.parametrize("policies", [{}, {"catch_up": CatchUp.ALL}, {"overlap": Overlap.REPLACE}])
def test_what_was_due_when_a_job_left_the_code_is_missed_and_says_so(policies: dict[str, Any]) -> None:
    """A run of it would wait for ever: no worker's code has the task."""
    minutely = defined(schedule="* * * * *", **policies)
    sync_jobs([minutely])
    waiting = make_run(Job.objects.get())
    first = now().replace(second=0, microsecond=0) - timedelta(minutes=3)
    Job.objects.update(next_run_at=first)

    sync_jobs([], dry_run=True)
    assert Run.objects.get() == waiting
    sync_jobs([])

    missed = Run.objects.exclude(pk=waiting.pk).get()
    assert (missed.status, missed.reason) == ("MISSED", "the job left the code")
    assert missed.scheduled_for == first
    assert missed.instants in (4, 5)
    waiting.refresh_from_db()
    assert waiting.status == "READY"


def test_what_a_calendar_excludes_stays_so_when_the_job_leaves_the_code() -> None:
    registry.add_calendar(Calendar("always", daily=("00:00-12:00", "12:00-00:00")))
    sync_jobs([defined(schedule="* * * * *", exclude=["always"])])
    Job.objects.update(next_run_at=now().replace(second=0, microsecond=0))

    sync_jobs([])

    assert Run.objects.values_list("status", "reason").get() == ("SKIPPED", "excluded by the calendar 'always'")


def test_a_job_that_comes_back_to_the_code_is_revived_and_nothing_of_the_past_is_made_up() -> None:
    sync_jobs([defined()])
    sync_jobs([])

    synced = sync_jobs([defined(retries=1)])

    job = Job.objects.get()
    assert synced == Synced(updated={}, revived=("nightly",))
    assert (job.retired_at, job.enabled, job.retries) == (None, True, 1)
    assert job.next_run_at is not None
    assert job.next_run_at > now()


def test_a_sync_never_retires_what_a_live_worker_of_another_deployment_knows() -> None:
    """I7"""
    sync_jobs([defined("new"), defined("old")])
    make_worker(tasks=["new"])

    synced = sync_jobs([defined("old")])

    assert synced == Synced(updated={}, kept_for_others=("new",))
    assert Job.objects.get(name="new").active


def test_a_dead_worker_keeps_nothing() -> None:
    sync_jobs([defined("new")])
    make_worker(tasks=["new"], heartbeat_at=now() - HOUR, heartbeat_every=timedelta(seconds=20))

    assert sync_jobs([]).retired == ("new",)


def test_a_job_of_the_admin_with_the_same_name_is_left_alone_and_reported() -> None:
    make_job(name="nightly", schedule="@every 1h")
    before = all_rows()

    assert sync_jobs([defined()]) == Synced(updated={}, conflicts=("nightly",))
    assert all_rows() == before


def test_a_job_of_the_admin_is_never_retired() -> None:
    make_job(name="by hand")

    assert sync_jobs([]) == NOTHING


def test_a_job_that_is_switched_off_in_the_code_starts_switched_off() -> None:
    sync_jobs([defined(enabled=False)])

    assert Job.objects.values_list("enabled", "next_run_at").get() == (False, None)


def test_a_job_renamed_in_the_code_is_one_new_and_one_retired() -> None:
    sync_jobs([defined("before", task_name="task")])

    synced = sync_jobs([defined("after", task_name="task")])

    assert (synced.created, synced.retired) == (("after",), ("before",))


def test_a_sync_of_many_jobs_takes_as_many_statements_as_one() -> None:
    """I10"""
    counts = []
    for number in (1, 40):
        Job.objects.all().delete()
        with CaptureQueriesContext(
            connection,
        ) as created:
            sync_jobs([defined(f"job-{index}") for index in range(number)])
        with CaptureQueriesContext(connection) as updated:
            sync_jobs([defined(f"job-{index}", retries=1) for index in range(number)])
        counts.append((len(created), len(updated)))

    # SQLite splits what has too many parameters for one of its statements.
    spare = 3 if connection.vendor == "sqlite" else 0
    assert all(many <= one + spare for one, many in zip(*counts, strict=True))
