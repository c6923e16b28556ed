from __future__ import annotations

import pytest
from django.db import transaction

from django_leasejobs.engine.cancel import CancelResult, cancel_run, delete_jobs
from django_leasejobs.engine.claim import Claims
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.engine.trigger import Order, trigger_job
from django_leasejobs.models import Job, Lease, Run, RunStatus, Worker
from tests.support.factories import claim, make_due_job, make_job, make_run, make_worker
from tests.support.rows import HOUR, stored
from tests.support.sessions import Side, skips_locked

pytestmark = pytest.mark.django_db(transaction=True)


def ids(claims: Claims) -> list[int]:
    return [run.run_id for run in claims.runs]


def test_two_claims_get_different_runs_while_the_first_is_uncommitted() -> None:
    """I1"""
    first, second = make_run(priority=1), make_run()

    with transaction.atomic():
        mine = claim()
        other = Side(claim)
        assert other.settle() is skips_locked()

    assert (ids(mine), ids(other.result())) == ([first.pk], [second.pk])
    assert Lease.objects.count() == 2


def test_a_claim_that_is_rolled_back_leaves_its_run_to_the_next() -> None:
    run = make_run()
    with transaction.atomic():
        claim()
        transaction.set_rollback(True)

    assert ids(claim()) == [run.pk]


def test_an_exclusive_job_is_claimed_once_while_the_first_claim_is_uncommitted() -> None:
    """I1"""
    job = make_job(overlap="queue")
    first = make_run(job, priority=1)
    make_run(job)

    with transaction.atomic():
        mine = claim()
        other = Side(lambda: claim(10))
        other.settle()

    assert (ids(mine), ids(other.result())) == ([first.pk], [])
    assert Lease.objects.count() == 1


@pytest.mark.usefixtures("row_locks")
@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ"])
def test_a_claim_that_looked_before_anothers_lease_was_committed_stands_back(isolation: str) -> None:
    """I1: the second claim has locked the other run already and asks for the job when the first has committed.

    Where it can't see the other lease even then, the unique index refuses its own, and it looks again.
    """
    job = make_job(overlap="queue")
    first = make_run(job, priority=1)
    second, free = make_run(job), make_run()
    with transaction.atomic():
        mine = claim()
        other = Side(lambda: claim(10), hold_at=Job._meta.db_table, isolation=isolation)

    theirs = other.result()

    assert ids(mine) == [first.pk]
    assert theirs.contended
    assert ids(theirs) == ([free.pk] if isolation == "READ COMMITTED" else [])
    assert ids(theirs) + ids(claim(10)) == [free.pk]
    assert stored(second).status == RunStatus.READY


def test_a_job_that_is_being_planned_is_left_for_a_moment_and_then_claimed() -> None:
    job = make_due_job(overlap="queue")
    waiting = make_run(job, available_at=job.next_run_at - HOUR)

    with transaction.atomic():
        planned = plan_jobs()
        other = Side(lambda: claim(10))
        other.settle()

    theirs = other.result()
    later = claim(10)
    assert planned.jobs == 1
    assert ids(theirs) + ids(later) == [waiting.pk]
    assert theirs.contended is skips_locked() or ids(theirs) == [waiting.pk]


def test_a_plan_skips_a_job_that_is_being_claimed_and_sees_its_run_afterwards() -> None:
    """The overlap policy must see the run that the claim is about to start."""
    job = make_due_job(overlap="skip")
    make_run(job)

    with transaction.atomic():
        claim()
        other = Side(plan_jobs)
        other.settle()

    planned_beside = other.result().jobs
    planned_later = plan_jobs().jobs
    assert planned_beside + planned_later == 1
    assert Run.objects.filter(origin="schedule").values_list("status", flat=True).get() == RunStatus.SKIPPED


def test_a_cancel_that_meets_a_claim_asks_the_new_holder() -> None:
    run = make_run()

    with transaction.atomic():
        (mine,) = claim().runs
        other = Side(lambda: cancel_run(run.pk, reason="by Ann"))
        assert not other.settle()

    assert other.result() == CancelResult.REQUESTED
    assert renew_leases([mine.token], timeout=5).cancelled == {mine.token: "by Ann"}


def test_a_claim_passes_by_a_run_that_is_being_cancelled() -> None:
    run, free = make_run(priority=1), make_run()

    with transaction.atomic():
        cancel_run(run.pk, reason="by Ann")
        other = Side(claim)
        assert other.settle() is skips_locked()

    assert ids(other.result()) == [free.pk]
    assert stored(run).status == RunStatus.CANCELLED


@pytest.mark.parametrize("overlap", ["skip", "allow"])
def test_a_job_that_is_deleted_while_its_run_is_claimed_has_the_run_asked_to_end(overlap: str) -> None:
    job = make_job(overlap=overlap)
    run = make_run(job)

    with transaction.atomic():
        (mine,) = claim().runs
        other = Side(lambda: delete_jobs([job.pk], reason="deleted"))
        assert not other.settle()

    assert other.result() == 1
    assert renew_leases([mine.token], timeout=5).cancelled == {mine.token: "deleted"}
    assert stored(run).job_id is None


def test_a_claim_passes_by_a_job_that_is_being_deleted() -> None:
    job = make_job()
    run = make_run(job)

    with transaction.atomic():
        delete_jobs([job.pk], reason="deleted")
        other = Side(claim)
        other.settle()

    assert ids(other.result()) == []
    assert (stored(run).status, stored(run).reason) == (RunStatus.CANCELLED, "deleted")


def test_a_run_that_is_being_triggered_is_claimed_when_it_is_committed() -> None:
    job = make_job(overlap="queue")

    with transaction.atomic():
        run = trigger_job(job.name, Order())
        other = Side(claim)
        other.settle()

    assert ids(other.result()) + ids(claim()) == [run.pk]


def test_a_worker_whose_row_was_deleted_claims_nothing_until_it_registers_anew() -> None:
    """Its claim is refused as a whole: no run is left RUNNING without a lease."""
    worker = make_worker()
    Worker.objects.all().delete()
    run = make_run()

    refused = claim(worker=worker)

    assert (refused.runs, refused.contended) == ((), True)
    assert (stored(run).status, Lease.objects.count()) == (RunStatus.READY, 0)
    assert ids(claim(worker=make_worker())) == [run.pk]
