from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import transaction

from django_leasejobs import vendor
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.prune import prune_runs
from django_leasejobs.engine.retry import retry_run
from django_leasejobs.engine.sync import Synced, sync_jobs
from django_leasejobs.engine.transactions import in_short_transaction
from django_leasejobs.engine.trigger import Order, trigger_job
from django_leasejobs.models import Job, Run, RunStatus
from tests.engine.test_sync import defined
from tests.support.factories import make_due_job, make_job, make_run, now
from tests.support.rows import HOUR, stored
from tests.support.sessions import PATIENCE, Side, skips_locked

pytestmark = pytest.mark.django_db(transaction=True)


def test_two_plans_give_each_instant_one_row() -> None:
    """I2"""
    jobs = [make_due_job() for _ in range(4)]

    with transaction.atomic():
        first = plan_jobs(limit=2)
        other = Side(plan_jobs)
        assert other.settle() is skips_locked()

    assert (first.jobs, other.result().jobs) == (2, 2)
    assert set(Run.objects.values_list("job_id", flat=True)) == {job.pk for job in jobs}
    assert Run.objects.count() == 4


def test_a_plan_that_commits_late_does_not_move_the_cursor_back() -> None:
    """I2: the other planner must not plan from the same cursor, nor this one write over a later one."""
    job = make_due_job(ago=timedelta(minutes=2), catch_up="all", overlap="allow")

    with transaction.atomic():
        plan_jobs()
        other = Side(plan_jobs)
        other.settle()
    other.result()
    plan_jobs()

    instants = list(Run.objects.order_by("scheduled_for").values_list("scheduled_for", flat=True))
    assert len(instants) == len(set(instants)) >= 3
    job.refresh_from_db()
    assert job.next_run_at > instants[-1]


def test_a_plan_that_is_rolled_back_leaves_the_instants_to_the_next() -> None:
    """I2: killed between any two statements."""
    job = make_due_job()
    with transaction.atomic():
        plan_jobs()
        transaction.set_rollback(True)
    assert not Run.objects.exists()

    plan_jobs()

    assert Run.objects.values_list("job_id", "scheduled_for").get() == (job.pk, job.next_run_at)


def test_a_plan_beside_a_trigger_sees_the_triggered_run() -> None:
    job = make_due_job(overlap="skip")

    with transaction.atomic():
        trigger_job(job.name, Order())
        other = Side(plan_jobs)
        other.settle()
    other.result()
    plan_jobs()

    assert Run.objects.filter(origin="schedule").values_list("status", flat=True).get() == RunStatus.SKIPPED


def test_an_idempotency_key_used_at_the_same_time_makes_one_run() -> None:
    make_job(name="nightly")

    with transaction.atomic():
        first = trigger_job("nightly", Order(idempotency_key="order-17"))
        other = Side(lambda: trigger_job("nightly", Order(idempotency_key="order-17")))
        assert not other.settle()

    assert other.result().pk == first.pk == Run.objects.get().pk


@pytest.mark.usefixtures("row_locks")
def test_an_idempotency_key_used_at_the_same_time_for_two_jobs_makes_one_run() -> None:
    """The job's lock does not help there: only the unique index does."""
    for name in ("a", "b"):
        make_job(name=name)

    with transaction.atomic():
        first = trigger_job("a", Order(idempotency_key="order-17"))
        other = Side(lambda: trigger_job("b", Order(idempotency_key="order-17")))
        assert not other.settle()

    assert other.result().pk == first.pk == Run.objects.get().pk


def test_two_deployments_that_define_the_same_new_job_at_once_make_one() -> None:
    with transaction.atomic():
        first = sync_jobs([defined()])
        other = Side(lambda: sync_jobs([defined(), defined("second")]))
        assert not other.settle()

    assert first.created == ("nightly",)
    assert other.result() == Synced(created=("second",), updated={})
    assert set(Job.objects.values_list("name", flat=True)) == {"nightly", "second"}


def test_two_syncs_of_known_jobs_wait_for_each_other() -> None:
    sync_jobs([defined()])

    with transaction.atomic():
        sync_jobs([defined(retries=1)])
        other = Side(lambda: sync_jobs([defined(retries=2)]))
        assert not other.settle()

    assert other.result().updated == {"nightly": {"retries": (1, 2)}}
    assert Job.objects.get().retries == 2


def test_two_prunes_share_the_work() -> None:
    for _ in range(4):
        make_run(status=RunStatus.SUCCESSFUL, finished_at=now() - HOUR)
    retention = {"SUCCESSFUL": timedelta(0)}

    with transaction.atomic():
        first = prune_runs(retention, limit=2)
        other = Side(lambda: prune_runs(retention))
        assert other.settle() is skips_locked()

    assert (first, other.result(), Run.objects.count()) == (2, 2, 0)


def test_two_retries_of_one_run_start_it_anew_once() -> None:
    run = make_run(status=RunStatus.FAILED, finished_at=now())

    with transaction.atomic():
        first = retry_run(run.pk, reason="Ann")
        other = Side(lambda: retry_run(run.pk, reason="Bob"))
        assert not other.settle()

    assert (first, other.result()) == (True, False)
    assert (stored(run).status, stored(run).reason) == (RunStatus.READY, "Ann")


@pytest.mark.usefixtures("row_locks")
def test_two_transactions_that_deadlock_both_get_through() -> None:
    """I8"""
    jobs = [make_job(retries=0) for _ in range(2)]
    both_hold_one = threading.Barrier(2)
    calls: list[int] = []

    @in_short_transaction
    def lock_both(first: int, second: int) -> None:
        calls.append(first)
        for pk in (first, second):
            row = vendor.lock(Job.objects.filter(pk=pk)).get()
            Job.objects.filter(pk=pk).update(retries=row.retries + 1)
            if len(calls) <= 2 and pk == first:
                both_hold_one.wait(PATIENCE)

    sides = [
        Side(lambda: lock_both(jobs[0].pk, jobs[1].pk)),
        Side(lambda: lock_both(jobs[1].pk, jobs[0].pk)),
    ]
    for side in sides:
        side.result()

    assert len(calls) == 3
    assert set(Job.objects.values_list("retries", flat=True)) == {2}
