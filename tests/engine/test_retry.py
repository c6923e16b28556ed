from __future__ import annotations

import pytest

from django_leasejobs.engine.outcomes import Died, Raised, Succeeded
from django_leasejobs.engine.retry import retry_run
from django_leasejobs.models import Attempt, Job, RunStatus
from tests.support.factories import claim, make_job, make_run, now
from tests.support.rows import HOUR, all_rows, claimed_run, end, stored

pytestmark = pytest.mark.django_db


def test_a_failed_run_starts_anew_with_its_counters_at_zero_and_its_attempts_kept() -> None:
    run = claimed_run(make_job(), lost=2, max_lost=9)
    end(run, Raised("E"))

    assert retry_run(run.run_id, reason="again (Ann)")

    row = stored(run)
    assert (row.status, row.failures, row.lost, row.reason) == (RunStatus.READY, 0, 0, "again (Ann)")
    assert row.finished_at is None
    assert Attempt.objects.count() == 1
    (again,) = claim().runs
    assert (again.run_id, again.attempt) == (run.run_id, 1)
    assert again.token > run.token


def test_a_late_result_of_the_same_attempt_number_does_not_pass_for_the_new_one() -> None:
    """I4: the attempt number is no fence."""
    run = claimed_run()
    end(run, Raised("E"))
    retry_run(run.run_id, reason="again")
    (again,) = claim().runs
    assert again.attempt == run.attempt

    finished = end(run, Succeeded("stale"))

    assert (len(finished.discarded), stored(run).status, stored(run).result) == (1, RunStatus.RUNNING, None)


def test_a_cancelled_run_starts_anew_and_its_start_deadline_is_gone() -> None:
    run = make_run(status=RunStatus.CANCELLED, finished_at=now(), start_before=now() - HOUR)

    assert retry_run(run.pk, reason="again")
    assert [got.run_id for got in claim().runs] == [run.pk]


@pytest.mark.parametrize("status", [RunStatus.SUCCESSFUL, RunStatus.MISSED, RunStatus.SKIPPED])
def test_a_run_that_ended_otherwise_is_not_retried(status: RunStatus) -> None:
    run = make_run(status=status, finished_at=now())
    before = all_rows()

    assert not retry_run(run.pk, reason="again")
    assert all_rows() == before


def test_a_run_whose_job_was_deleted_is_not_retried_since_nobody_would_take_it_up() -> None:
    run = claimed_run(make_job())
    end(run, Raised("E"))
    Job.objects.all().delete()
    before = all_rows()

    assert stored(run).is_orphaned
    assert not retry_run(run.run_id, reason="again")
    assert all_rows() == before


def test_a_run_that_goes_on_and_one_that_is_not_there_are_not_retried() -> None:
    run = claimed_run()
    end(run, Died("gone"))

    assert not retry_run(run.run_id, reason="again")
    assert not retry_run(10**9, reason="again")
    assert stored(run).lost == 1
