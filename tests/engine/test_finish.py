from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from django_leasejobs.engine.finish import Finished, Report, finish_runs
from django_leasejobs.engine.outcomes import Died, Ending, HandedBack, Raised, Stopped, Succeeded
from django_leasejobs.models import Attempt, Lease, Run, RunStatus
from tests.support.factories import claim, make_job, make_run, now, rng
from tests.support.rows import HOUR, all_rows, claimed_batch, claimed_run, end, expire, stored

pytestmark = pytest.mark.django_db


def attempts(run: Any) -> list[tuple[int, str, str]]:
    return list(Attempt.objects.filter(run_id=run.run_id).order_by("pk").values_list("number", "outcome", "error"))


def test_finishing_nothing_is_nothing() -> None:
    assert finish_runs([], worker_name="w", rng=rng()) == Finished((), ())


@pytest.mark.parametrize("result", [None, 0, False, [], {"sum": 1.5, "name": "Ünï"}, "text"])
def test_a_success_ends_the_lease_and_keeps_the_result(result: Any) -> None:
    run = claimed_run(make_job())

    finished = end(run, Succeeded(result), log="a line")

    row = stored(run)
    assert (row.status, row.result, row.log, row.error, row.reason) == (RunStatus.SUCCESSFUL, result, "a line", "", "")
    assert row.finished_at == finished.now is not None
    assert (len(finished.recorded), finished.discarded, finished.failed_jobs) == (1, (), frozenset())
    assert not Lease.objects.exists()
    assert not Attempt.objects.exists()


def test_a_plain_success_leaves_nothing_of_earlier_attempts_in_the_run() -> None:
    run = claimed_run(error="old", traceback="old", log="old", reason="old", result={"old": 1}, failures=1)

    end(run, Succeeded())

    row = stored(run)
    assert (row.error, row.traceback, row.log, row.reason, row.result) == ("", "", "", "", None)
    assert (row.status, row.failures) == (RunStatus.SUCCESSFUL, 1)


def test_a_failure_with_a_retry_left_waits_out_its_backoff() -> None:
    job = make_job()
    run = claimed_run(job, retries=1, backoff=timedelta(seconds=10))

    finished = end(run, Raised("ValueError: bad", "Traceback ..."), log="a line")

    row = stored(run)
    (settled,) = finished.recorded
    assert (row.status, row.failures, row.error, row.traceback) == (
        RunStatus.READY,
        1,
        "ValueError: bad",
        "Traceback ...",
    )
    assert row.finished_at is None
    assert finished.now is not None
    assert settled.retry_at(finished.now) == row.available_at == finished.now + settled.verdict.delay
    assert settled.verdict.delay > timedelta(0)
    assert attempts(run) == [(1, "failed", "ValueError: bad")]
    assert finished.failed_jobs == frozenset()
    assert not Lease.objects.exists()


def test_a_failure_without_a_retry_left_fails_the_run_and_names_the_job() -> None:
    """I7"""
    job = make_job()
    run = claimed_run(job, retries=1, failures=1)

    finished = end(run, Raised("E", "T"))

    row = stored(run)
    assert (row.status, row.failures, row.traceback) == (RunStatus.FAILED, 2, "T")
    assert row.reason == "failed 2 times, with 1 retry allowed"
    assert row.finished_at == finished.now
    assert finished.failed_jobs == {job.pk}
    assert attempts(run) == [(2, "failed", "E")]


def test_a_timeout_counts_as_a_failure() -> None:
    run = claimed_run()

    end(run, Raised("timed out", timed_out=True))

    assert (stored(run).status, attempts(run)) == (RunStatus.FAILED, [(1, "timed_out", "timed out")])


def test_a_death_is_counted_as_a_lost_lease_and_the_run_goes_on() -> None:
    run = claimed_run()

    end(run, Died("killed by signal 9"))

    row = stored(run)
    assert (row.status, row.lost, row.failures, row.reason) == (RunStatus.READY, 1, 0, "killed by signal 9")
    assert attempts(run) == [(1, "lost", "killed by signal 9")]
    assert [again.run_id for again in claim().runs] == [run.run_id]


def test_one_death_too_many_gives_the_run_up() -> None:
    """I7"""
    run = claimed_run(make_job(), lost=3)

    finished = end(run, Died("killed by signal 9"))

    row = stored(run)
    assert (row.status, row.lost) == (RunStatus.FAILED, 4)
    assert row.reason == "lost its lease 4 times, with 3 losses allowed: killed by signal 9"
    assert len(finished.failed_jobs) == 1


def test_work_that_must_never_start_twice_is_given_up_at_its_first_loss() -> None:
    run = claimed_run(max_lost=0)

    end(run, Died("gone"))

    assert stored(run).status == RunStatus.FAILED


def test_a_run_that_is_handed_back_waits_again_at_once_with_no_attempt_burned() -> None:
    """I3"""
    run = claimed_run(failures=1, lost=1, retries=5)

    end(run, HandedBack("the worker stops"))

    row = stored(run)
    assert (row.status, row.failures, row.lost) == (RunStatus.READY, 1, 1)
    assert attempts(run) == [(3, "released", "the worker stops")]
    (again,) = claim().runs
    assert (again.run_id, again.attempt) == (run.run_id, 3)
    assert again.token > run.token


@pytest.mark.parametrize("ending", [Stopped("by the job"), Raised("Cancelled"), HandedBack("stop"), Died("killed")])
def test_a_run_that_was_asked_to_cancel_ends_cancelled(ending: Ending) -> None:
    run = claimed_run(retries=5)
    Lease.objects.update(cancel_requested_at=now(), cancel_reason="by Ann")

    end(run, ending)

    row = stored(run)
    expected = "by the job" if isinstance(ending, Stopped) else "by Ann"
    assert (row.status, row.reason) == (RunStatus.CANCELLED, expected)
    assert [outcome for _, outcome, _ in attempts(run)] == ["cancelled"]


def test_progress_moves_from_the_lease_to_the_run() -> None:
    run = claimed_run()
    Lease.objects.update(progress={"done": 3, "total": 4})

    end(run, Succeeded())

    assert stored(run).progress == {"done": 3, "total": 4}


def test_saved_state_survives_every_ending() -> None:
    run = claimed_run(state={"row": 7}, retries=1)

    end(run, Raised("E"))

    assert stored(run).state == {"row": 7}


def test_a_result_that_comes_after_the_lease_ran_out_but_before_it_was_taken_still_counts() -> None:
    run = claimed_run()
    expire(run, ago=HOUR)

    finished = end(run, Succeeded(1))

    assert (len(finished.recorded), stored(run).status) == (1, RunStatus.SUCCESSFUL)


def test_a_result_of_a_lost_lease_changes_nothing() -> None:
    """I4"""
    run = claimed_run()
    Lease.objects.all().delete()
    report = Report(run=run, ending=Succeeded(1))
    before = all_rows()

    finished = finish_runs([report], worker_name="w", rng=rng())

    assert finished == Finished((), (report,))
    assert all_rows() == before


def test_finishing_twice_changes_nothing_the_second_time() -> None:
    run = claimed_run()
    end(run, Succeeded(1))
    before = all_rows()

    finished = end(run, Raised("E"))

    assert finished == Finished((), ())
    assert all_rows() == before


def test_a_run_deleted_meanwhile_takes_its_lease_along_and_the_finish_stands_back() -> None:
    run = claimed_run()
    Run.objects.all().delete()

    finished = end(run, Succeeded())

    assert (finished.recorded, len(finished.discarded)) == ((), 1)
    assert not Run.objects.exists()


def test_a_batch_records_each_ending_for_its_own_run() -> None:
    runs = claimed_batch(6, retries=1)
    endings = [Succeeded(), Succeeded({"n": 1}), Raised("E"), Died("gone"), HandedBack("stop"), Succeeded()]
    lost = runs[5]
    Lease.objects.filter(pk=lost.token).delete()
    reports = [
        Report(run=run, ending=ending, log=f"log {run.run_id}") for run, ending in zip(runs, endings, strict=True)
    ]

    finished = finish_runs(reports, worker_name="w", rng=rng())

    rows = [stored(run) for run in runs]
    assert [row.status for row in rows] == ["SUCCESSFUL", "SUCCESSFUL", "READY", "READY", "READY", "RUNNING"]
    assert [row.result for row in rows] == [None, {"n": 1}, None, None, None, None]
    assert [(row.failures, row.lost) for row in rows] == [(0, 0), (0, 0), (1, 0), (0, 1), (0, 0), (0, 0)]
    assert [row.log for row in rows[:5]] == [report.log for report in reports[:5]]
    assert finished.discarded == (reports[5],)
    assert [item.token for item in finished.recorded] == [run.token for run in runs[:5]]
    assert not Lease.objects.exists()


def test_a_finish_leaves_the_leases_of_others_alone() -> None:
    mine, other = claimed_batch(2)

    end(mine, Succeeded())

    assert list(Lease.objects.values_list("pk", flat=True)) == [other.token]
    assert stored(other).status == RunStatus.RUNNING


def test_what_a_run_was_made_with_is_not_touched_by_its_end() -> None:
    job = make_job()
    run = claimed_run(job, args=[1], kwargs={"a": 2}, scheduled_for=now(), idempotency_key="k", priority=7)
    untouched = ("job_id", "args", "kwargs", "scheduled_for", "idempotency_key", "priority", "created_at", "token")
    before = Run.objects.values(*untouched).get()

    end(run, Raised("E"))

    assert Run.objects.values(*untouched).get() == before


def test_make_run_after_a_finish_of_an_exclusive_job_can_start() -> None:
    job = make_job()
    run = claimed_run(job)
    waiting = make_run(job)
    end(run, Succeeded())

    assert [got.run_id for got in claim().runs] == [waiting.pk]
