from __future__ import annotations

import pytest

from django_leasejobs.engine.reclaim import Reclaimed, reclaim_leases, release_lease
from django_leasejobs.models import Attempt, Lease, RunStatus
from tests.support.factories import claim, make_job, make_run, make_worker, now, rng
from tests.support.rows import HOUR, SECOND, all_rows, claimed_batch, claimed_run, expire, stored

pytestmark = pytest.mark.django_db


def test_leases_that_have_not_run_out_are_left_alone() -> None:
    claimed_run()
    before = all_rows()

    assert reclaim_leases(rng=rng()) == Reclaimed()
    assert all_rows() == before


def test_a_run_whose_lease_ran_out_waits_again_at_once() -> None:
    """I3"""
    run = claimed_run(make_job())
    expire(run)

    (settled,) = reclaim_leases(rng=rng()).settlements

    row, attempt = stored(run), Attempt.objects.get()
    assert (row.status, row.lost, row.failures, row.finished_at) == (RunStatus.READY, 1, 0, None)
    assert row.reason.startswith("the lease of tester expired at ")
    assert (attempt.run_id, attempt.token, attempt.number, attempt.outcome) == (run.run_id, run.token, 1, "lost")
    assert (attempt.worker_name, attempt.started_at) == ("tester", run.claimed_at)
    assert (settled.token, settled.verdict.status) == (run.token, RunStatus.READY)
    assert not Lease.objects.exists()
    (again,) = claim().runs
    assert (again.run_id, again.attempt, again.lost) == (run.run_id, 2, 1)
    assert again.token > run.token


def test_a_second_loss_in_a_row_waits() -> None:
    """I7"""
    run = claimed_run(lost=1)
    expire(run)

    reclaimed = reclaim_leases(rng=rng())

    assert reclaimed.now is not None
    assert stored(run).available_at > reclaimed.now
    assert not claim().runs


def test_one_loss_too_many_gives_the_run_up() -> None:
    """I7"""
    run = claimed_run(max_lost=1, lost=1)
    expire(run)

    reclaimed = reclaim_leases(rng=rng())

    row = stored(run)
    assert (row.status, row.lost, row.finished_at) == (RunStatus.FAILED, 2, reclaimed.now)
    assert row.reason.startswith("lost its lease 2 times, with 1 loss allowed: the lease of tester expired at ")


def test_a_cancelled_run_whose_worker_died_is_cancelled() -> None:
    run = claimed_run()
    Lease.objects.update(cancel_requested_at=now(), cancel_reason="by Ann")
    expire(run)

    reclaim_leases(rng=rng())

    assert (stored(run).status, stored(run).reason, stored(run).lost) == (RunStatus.CANCELLED, "by Ann", 0)


def test_reclaiming_is_bounded_and_takes_the_longest_expired_first() -> None:
    runs = claimed_batch(3)
    for hours, run in enumerate(runs, start=1):
        expire(run, ago=hours * HOUR)

    taken = [item.token for _ in range(2) for item in reclaim_leases(rng=rng(), limit=2).settlements]

    assert taken == [run.token for run in reversed(runs)]


def test_the_last_progress_of_a_lost_attempt_is_kept() -> None:
    run = claimed_run()
    Lease.objects.update(progress={"done": 3})
    expire(run)

    reclaim_leases(rng=rng())

    assert stored(run).progress == {"done": 3}


def test_saved_state_is_there_for_the_next_attempt() -> None:
    run = claimed_run(state={"row": 7})
    expire(run)

    reclaim_leases(rng=rng())

    assert claim().runs[0].state == {"row": 7}


def test_a_lease_is_reclaimed_although_its_worker_left_no_row() -> None:
    """The dead worker's row may be gone first: its runs must not be hidden by that."""
    worker = make_worker()
    make_run()
    (run,) = claim(worker=worker).runs
    worker.delete()
    expire(run)

    assert len(reclaim_leases(rng=rng()).settlements) == 1
    assert stored(run).status == RunStatus.READY


def test_a_reclaimed_exclusive_job_can_run_again() -> None:
    job = make_job()
    expire(claimed_run(job))

    reclaim_leases(rng=rng())

    assert len(claim().runs) == 1


def test_a_lease_that_expires_this_moment_is_not_over_yet() -> None:
    run = claimed_run()
    Lease.objects.filter(pk=run.token).update(expires_at=now() + SECOND)

    assert not reclaim_leases(rng=rng()).settlements


def test_a_released_lease_gives_the_run_back_with_no_attempt_burned() -> None:
    run = claimed_run(failures=1, retries=3)

    (settled,) = release_lease(run.token, reason="host is gone (Ann)", rng=rng()).settlements

    row = stored(run)
    assert (row.status, row.failures, row.lost, row.reason) == (RunStatus.READY, 1, 0, "host is gone (Ann)")
    assert Attempt.objects.get().outcome == "released"
    assert settled.token == run.token
    assert not Lease.objects.exists()
    assert claim().runs[0].token > run.token


def test_releasing_a_lease_that_is_gone_changes_nothing() -> None:
    run = claimed_run()
    Lease.objects.all().delete()
    before = all_rows()

    assert release_lease(run.token, reason="x", rng=rng()) == Reclaimed()
    assert all_rows() == before


def test_releasing_a_cancelled_lease_cancels_the_run() -> None:
    run = claimed_run()
    Lease.objects.update(cancel_requested_at=now(), cancel_reason="by Ann")

    release_lease(run.token, reason="host is gone", rng=rng())

    assert (stored(run).status, stored(run).reason) == (RunStatus.CANCELLED, "by Ann")
