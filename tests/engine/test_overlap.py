"""What becomes of an instant, or of a trigger, while an earlier run of the job is not finished."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from django_leasejobs.engine.backfill import backfill_job
from django_leasejobs.engine.outcomes import Raised, Stopped, Succeeded
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.trigger import Order, trigger_job
from django_leasejobs.exceptions import JobDefinitionError
from django_leasejobs.models import Job, Lease, Run, RunStatus
from tests.support.factories import claim, make_run, make_task, now
from tests.support.planning import MINUTE, come_due, minutely, this_minute
from tests.support.rows import claimed, end, stored

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("within_a_minute")]

STILL_RUNNING = "the previous run was still running"
STILL_WAITING = "the previous run was still waiting to start"
ONE_WAITS = "another run was waiting already"


@pytest.fixture(autouse=True)
def _task():
    make_task()


def running_job(overlap, **values):
    """A job with one run under way; return it with the minute that came then."""
    job, instant = minutely(overlap=overlap, **values), this_minute() - 5 * MINUTE
    return job, claimed(come_due(job, instant)), instant


def test_skip_records_the_instant_and_starts_the_next_one_when_the_run_is_over() -> None:
    job, run, instant = running_job("skip")

    skipped = come_due(job, instant + MINUTE)
    end(run, Succeeded())
    following = come_due(job, instant + 2 * MINUTE)

    assert (skipped.status, skipped.reason, skipped.instants) == (RunStatus.SKIPPED, STILL_RUNNING, 1)
    assert following.status == RunStatus.READY
    assert come_due(job, instant + 3 * MINUTE).reason == STILL_WAITING


def test_missed_instants_name_the_one_that_stands_for_them_which_may_be_skipped() -> None:
    job, _, instant = running_job("skip")
    newest = instant + 3 * MINUTE
    Job.objects.filter(pk=job.pk).update(next_run_at=instant + MINUTE, ends_at=newest)

    plan_jobs()

    missed, skipped = Run.objects.filter(job=job, finished_at__isnull=False).order_by("scheduled_for")
    assert (missed.status, missed.instants) == (RunStatus.MISSED, 2)
    assert missed.reason == f"coalesced into the instant of {newest.isoformat()}"
    assert (skipped.status, skipped.scheduled_for, skipped.reason) == (RunStatus.SKIPPED, newest, STILL_RUNNING)


def test_queue_lets_one_wait_and_records_the_others() -> None:
    job, run, instant = running_job("queue")

    queued = come_due(job, instant + MINUTE)
    skipped = come_due(job, instant + 2 * MINUTE)

    assert (queued.status, skipped.status, skipped.reason) == (RunStatus.READY, RunStatus.SKIPPED, ONE_WAITS)
    assert claim().runs == ()
    end(run, Succeeded())
    assert [got.run_id for got in claim().runs] == [queued.pk]


def test_allow_lets_both_run() -> None:
    job, _, instant = running_job("allow")

    second = come_due(job, instant + MINUTE)

    assert [got.run_id for got in claim().runs] == [second.pk]
    assert Lease.objects.count() == 2


def test_replace_asks_the_old_run_to_end_and_starts_when_its_lease_is_gone() -> None:
    job, run, instant = running_job("replace")

    new = come_due(job, instant + MINUTE)

    lease = Lease.objects.get()
    assert (lease.run_id, lease.cancel_reason) == (run.run_id, "replaced by the next instant")
    assert claim().runs == ()
    end(run, Stopped(lease.cancel_reason))
    assert stored(run).status == RunStatus.CANCELLED
    assert [got.run_id for got in claim().runs] == [new.pk]


def test_replace_cancels_what_only_waits() -> None:
    job, instant = minutely(overlap="replace"), this_minute() - 5 * MINUTE

    old, new = come_due(job, instant), come_due(job, instant + MINUTE)

    old.refresh_from_db()
    assert (old.status, old.reason, new.status) == (RunStatus.CANCELLED, "replaced by the next instant", "READY")


@pytest.mark.parametrize(
    ("overlap", "status", "reason"),
    [
        ("skip", RunStatus.SKIPPED, STILL_RUNNING),
        ("queue", RunStatus.READY, ""),
        ("allow", RunStatus.READY, ""),
        ("replace", RunStatus.READY, ""),
    ],
)
def test_a_trigger_obeys_overlap_and_says_why_nothing_ran(overlap, status, reason) -> None:
    job, _, _ = running_job(overlap)

    triggered = trigger_job(job.name, Order(triggered_by="anna"))

    assert (triggered.status, triggered.reason, triggered.triggered_by) == (status, reason, "anna")
    assert Lease.objects.filter(cancel_requested_at__isnull=False).exists() == (overlap == "replace")
    second = trigger_job(job.name, Order())
    assert (second.status == RunStatus.SKIPPED) == (overlap in ("skip", "queue"))


def test_a_trigger_that_ignores_overlap_runs_beside_the_other() -> None:
    job, _, _ = running_job("skip")

    triggered = trigger_job(job.name, Order(ignore_overlap=True))

    assert [got.run_id for got in claim().runs] == [triggered.pk]


def test_a_trigger_never_moves_the_schedule() -> None:
    job = minutely(next_run_at=this_minute() + MINUTE)

    trigger_job(job.name, Order())

    assert Job.objects.get() == job
    assert Job.objects.get().next_run_at == job.next_run_at


def test_a_run_for_later_neither_obeys_nor_holds_up_what_goes_on_now() -> None:
    job, run, instant = running_job("skip")

    later = trigger_job(job.name, Order(run_after=now() + timedelta(days=1)))
    end(run, Succeeded())

    assert later.status == RunStatus.READY
    assert come_due(job, instant + MINUTE).status == RunStatus.READY


@pytest.mark.parametrize("overlap", ["skip", "queue", "replace"])
def test_a_backfill_gives_way_to_the_schedule(overlap) -> None:
    job, instant = minutely(overlap=overlap), this_minute()
    backfill_job(job.name, start=instant - 9 * MINUTE, end=instant - 5 * MINUTE)
    (first,) = claim(limit=10).runs

    due = come_due(job, instant)

    assert due.status == RunStatus.READY
    assert claim(limit=10).runs == ()
    end(first, Succeeded())
    assert [got.run_id for got in claim(limit=10).runs] == [due.pk]
    assert Run.objects.filter(origin="backfill", status=RunStatus.READY).count() == 4


@pytest.mark.parametrize(("overlap", "status", "reason"), [("skip", "SKIPPED", STILL_WAITING), ("allow", "READY", "")])
def test_a_run_that_waits_for_its_retry_is_unfinished_too(overlap, status, reason) -> None:
    job, run, instant = running_job(overlap, retries=3, backoff=timedelta(minutes=10))
    began = now()

    end(run, Raised("ValueError: no"))
    following = come_due(job, instant + MINUTE)

    retried = stored(run)
    assert (retried.status, retried.failures) == (RunStatus.READY, 1)
    assert began + 5 * MINUTE <= retried.available_at <= now() + 10 * MINUTE
    assert (following.status, following.reason) == (status, reason)


def test_a_retry_never_runs_beside_another_run_of_an_exclusive_job() -> None:
    job, run, instant = running_job("queue", retries=3, backoff=timedelta(0))
    waiting = come_due(job, instant + MINUTE)
    end(run, Raised("ValueError: no"))

    (first,) = claim(limit=10).runs

    assert {first.run_id} <= {run.run_id, waiting.pk}
    assert claim(limit=10).runs == ()


def test_a_job_that_overlaps_no_other_does_not_hold_that_one_up() -> None:
    running_job("skip")
    other = minutely(overlap="skip")
    run = make_run(other)

    assert [got.run_id for got in claim(limit=10).runs] == [run.pk]


@pytest.mark.parametrize(
    ("order", "field"),
    [
        ({"run_after": datetime(2027, 1, 1)}, "run_after"),
        ({"idempotency_key": ""}, "idempotency_key"),
        ({"idempotency_key": "x" * 256}, "idempotency_key"),
        ({"triggered_by": "x" * 151}, "triggered_by"),
        ({"args": [object()]}, "args"),
        ({"kwargs": {"a": float("nan")}}, "kwargs"),
        ({"kwargs": {"a": "\x00"}}, "kwargs"),
    ],
)
def test_an_order_that_could_not_be_stored_is_refused(order, field) -> None:
    job = minutely()

    with pytest.raises(JobDefinitionError) as caught:
        trigger_job(job.name, Order(**order))

    assert caught.value.field == field
    assert not Run.objects.exists()
