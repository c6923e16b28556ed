"""Whoever deletes the lease has the say about the run; everyone else stands back."""

from __future__ import annotations

import pytest
from django.db import transaction

from django_leasejobs import vendor
from django_leasejobs.engine.cancel import CancelResult, cancel_run, delete_jobs
from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.complete import complete_atomically
from django_leasejobs.engine.guard import guarded
from django_leasejobs.engine.outcomes import Raised, Succeeded
from django_leasejobs.engine.reclaim import Reclaimed, reclaim_leases, release_lease
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.exceptions import LeaseLost
from django_leasejobs.models import Attempt, Calendar, Job, Lease, RunStatus
from tests.support.factories import claim, make_job, rng
from tests.support.rows import claimed_batch, claimed_run, end, expire, stored
from tests.support.sessions import Side, skips_locked

pytestmark = pytest.mark.django_db(transaction=True)


def reclaim() -> Reclaimed:
    return reclaim_leases(rng=rng())


def enter_guard(run: Claimed) -> str:
    try:
        with guarded(run):
            Calendar.objects.create(name="effect")
    except LeaseLost:
        return "lost"
    return "committed"


def test_a_finish_that_is_first_has_the_say_over_a_reclaim() -> None:
    """I4"""
    run = claimed_run()
    expire(run)

    with transaction.atomic():
        finished = end(run, Succeeded(1))
        other = Side(reclaim)
        assert other.settle() is skips_locked()

    assert (len(finished.recorded), other.result().settlements) == (1, ())
    assert (stored(run).status, stored(run).result) == (RunStatus.SUCCESSFUL, 1)
    assert not Attempt.objects.exists()


def test_a_reclaim_that_is_first_has_the_say_over_a_finish() -> None:
    """I4"""
    run = claimed_run()
    expire(run)

    with transaction.atomic():
        reclaimed = reclaim()
        other = Side(lambda: end(run, Succeeded(1)))
        assert not other.settle()

    finished = other.result()
    assert (len(reclaimed.settlements), finished.recorded, len(finished.discarded)) == (1, (), 1)
    assert (stored(run).status, stored(run).result, stored(run).lost) == (RunStatus.READY, None, 1)
    assert Attempt.objects.get().outcome == "lost"


def test_two_finishes_of_one_lease_record_one_outcome() -> None:
    run = claimed_run()

    with transaction.atomic():
        first = end(run, Succeeded(1))
        other = Side(lambda: end(run, Raised("E")))
        assert not other.settle()

    assert (len(first.recorded), other.result().recorded) == (1, ())
    assert (stored(run).status, stored(run).error) == (RunStatus.SUCCESSFUL, "")


def test_two_reclaims_end_each_lease_once() -> None:
    runs = claimed_batch(4)
    expire(*runs)

    with transaction.atomic():
        first = reclaim_leases(rng=rng(), limit=2)
        other = Side(reclaim)
        assert other.settle() is skips_locked()

    tokens = [item.token for item in (*first.settlements, *other.result().settlements)]
    assert sorted(tokens) == sorted(run.token for run in runs)
    assert Attempt.objects.count() == 4


def test_a_renewal_that_is_first_saves_an_expired_lease_from_a_reclaim() -> None:
    run = claimed_run()
    expire(run)

    with transaction.atomic():
        renew_leases([run.token], timeout=5)
        other = Side(reclaim)
        assert other.settle() is skips_locked()

    assert other.result().settlements == ()
    assert Lease.objects.get().pk == run.token


def test_a_renewal_that_comes_after_a_reclaim_finds_the_lease_lost() -> None:
    run = claimed_run()
    expire(run)

    with transaction.atomic():
        reclaim()
        other = Side(lambda: renew_leases([run.token], timeout=10))
        assert not other.settle()

    assert other.result().lost == {run.token}


@pytest.mark.usefixtures("row_locks")
def test_a_lease_that_runs_out_inside_a_guard_is_not_taken_before_the_guard_ends() -> None:
    """I4"""
    run = claimed_run()

    with guarded(run):
        Calendar.objects.create(name="effect")
        Side(lambda: expire(run)).result()
        beside = Side(reclaim).result()
        released = Side(lambda: release_lease(run.token, reason="by Ann", rng=rng())).result()
        taken = Side(lambda: claim(10)).result()

    assert (beside.settlements, released.settlements, taken.runs) == ((), (), ())
    assert Calendar.objects.count() == 1
    assert len(reclaim().settlements) == 1


@pytest.mark.usefixtures("row_locks")
def test_renewals_and_cancels_go_on_while_a_guard_is_open() -> None:
    run = claimed_run()

    with guarded(run):
        renewed = Side(lambda: renew_leases([run.token], timeout=5)).result()
        cancelled = Side(lambda: cancel_run(run.run_id, reason="by Ann")).result()

    assert (renewed.held, cancelled) == ({run.token}, CancelResult.REQUESTED)


def test_a_reclaim_beside_a_guard_leaves_its_lease_and_the_effects_are_there() -> None:
    run = claimed_run()

    with guarded(run):
        Calendar.objects.create(name="effect")
        other = Side(reclaim)
        other.settle()

    assert other.result().settlements == ()
    assert (Calendar.objects.count(), Lease.objects.count()) == (1, 1)


def test_a_guard_that_meets_a_reclaim_waits_for_it_and_finds_the_lease_lost() -> None:
    """I4"""
    run = claimed_run()
    expire(run)

    with transaction.atomic():
        reclaim()
        other = Side(lambda: enter_guard(run))
        assert not other.settle()

    assert other.result() == "lost"
    assert not Calendar.objects.exists()


def test_a_guard_that_meets_a_reclaim_that_is_rolled_back_still_finds_the_lease_run_out() -> None:
    run = claimed_run()
    expire(run)

    with transaction.atomic():
        reclaim()
        other = Side(lambda: enter_guard(run))
        other.settle()
        transaction.set_rollback(True)

    assert other.result() == "lost"


def test_a_finish_beside_a_guard_of_its_own_run_waits_for_the_guard() -> None:
    run = claimed_run()

    with guarded(run):
        Calendar.objects.create(name="effect")
        other = Side(lambda: end(run, Succeeded()))
        assert not other.settle()

    assert len(other.result().recorded) == 1
    assert (stored(run).status, Calendar.objects.count()) == (RunStatus.SUCCESSFUL, 1)


def test_a_job_that_is_deleted_while_its_run_completes_atomically_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """They must not lock each other out: were the run's side the victim, it would count as failed for nothing."""
    tried_again: list[BaseException] = []
    monkeypatch.setattr(vendor, "is_retryable", lambda error: tried_again.append(error) or False)
    job = make_job()
    run = claimed_run(job)
    others: list[Side[int]] = []

    def work() -> tuple[None, str]:
        Calendar.objects.create(name="effect")
        others.append(Side(lambda: delete_jobs([job.pk], reason="deleted")))
        assert not others[0].settle()
        return None, ""

    complete_atomically(run, work)

    assert (others[0].result(), tried_again) == (1, [])
    assert (stored(run).status, stored(run).job_id) == (RunStatus.SUCCESSFUL, None)
    assert (Calendar.objects.count(), Job.objects.count(), Lease.objects.count()) == (1, 0, 0)


def test_a_job_that_is_deleted_while_its_run_is_finished_waits_for_it() -> None:
    job = make_job()
    run = claimed_run(job)

    with transaction.atomic():
        end(run, Succeeded())
        other = Side(lambda: delete_jobs([job.pk], reason="deleted"))
        assert not other.settle()

    assert other.result() == 1
    assert (stored(run).status, stored(run).job_id) == (RunStatus.SUCCESSFUL, None)


def test_a_release_that_is_first_discards_the_result_of_the_old_holder() -> None:
    run = claimed_run()

    with transaction.atomic():
        release_lease(run.token, reason="by Ann", rng=rng())
        other = Side(lambda: end(run, Succeeded(1)))
        assert not other.settle()

    assert len(other.result().discarded) == 1
    assert (stored(run).status, stored(run).reason) == (RunStatus.READY, "by Ann")
