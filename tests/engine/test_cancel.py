from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.engine import cancel
from django_leasejobs.engine.cancel import CancelResult, cancel_run, delete_jobs
from django_leasejobs.engine.outcomes import Raised, Succeeded
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.models import Job, Lease, Run, RunStatus
from tests.support.factories import claim, make_job, make_run, now
from tests.support.rows import all_rows, claimed_run, end, stored

pytestmark = pytest.mark.django_db


def test_a_waiting_run_is_cancelled_at_once() -> None:
    run = make_run(make_job())

    assert cancel_run(run.pk, reason="by Ann") == CancelResult.CANCELLED
    row = stored(run)
    assert (row.status, row.reason) == (RunStatus.CANCELLED, "by Ann")
    assert row.finished_at is not None
    assert not claim().runs


def test_the_holder_of_a_running_run_is_asked_and_goes_on_holding_it() -> None:
    run = claimed_run()

    assert cancel_run(run.run_id, reason="by Ann") == CancelResult.REQUESTED
    assert stored(run).status == RunStatus.RUNNING
    assert renew_leases([run.token], timeout=5).cancelled == {run.token: "by Ann"}


def test_asking_again_changes_nothing() -> None:
    run = claimed_run()
    cancel_run(run.run_id, reason="first")
    before = all_rows()

    assert cancel_run(run.run_id, reason="second") == CancelResult.ALREADY_REQUESTED
    assert all_rows() == before


def test_a_finished_run_stays_as_it_ended() -> None:
    run = claimed_run()
    end(run, Succeeded(1))
    before = all_rows()

    assert cancel_run(run.run_id, reason="late") == CancelResult.ALREADY_FINISHED
    assert all_rows() == before


def test_an_unknown_run_is_said_to_be_unknown() -> None:
    assert cancel_run(10**9, reason="x") == CancelResult.UNKNOWN


def test_only_the_run_that_was_meant_is_cancelled() -> None:
    other, meant = make_run(), make_run()

    cancel_run(meant.pk, reason="x")

    assert stored(other).status == RunStatus.READY


def test_deleting_a_job_cancels_what_waits_and_keeps_the_history_under_its_name() -> None:
    job, other = make_job(name="gone"), make_job()
    waiting, kept = make_run(job), make_run(other)
    done = make_run(job, status=RunStatus.SUCCESSFUL, finished_at=now())

    assert delete_jobs([job.pk], reason="deleted by Ann") == 1

    assert list(Job.objects.all()) == [other]
    assert (stored(waiting).status, stored(waiting).reason) == (RunStatus.CANCELLED, "deleted by Ann")
    assert (stored(done).status, stored(done).job_id, stored(done).job_name) == (RunStatus.SUCCESSFUL, None, "gone")
    assert stored(kept).status == RunStatus.READY


def test_deleting_a_job_that_runs_asks_for_its_end_and_the_finish_is_recorded() -> None:
    """The finish neither recreates the job nor fails for its absence."""
    job = make_job(name="gone")
    run = claimed_run(job)

    delete_jobs([job.pk], reason="deleted by Ann")

    assert renew_leases([run.token], timeout=5).cancelled == {run.token: "deleted by Ann"}
    finished = end(run, Raised("stopped"))
    assert len(finished.recorded) == 1
    row = stored(run)
    assert (row.status, row.reason, row.job_id) == (RunStatus.CANCELLED, "deleted by Ann", None)
    assert not Lease.objects.exists()
    assert not Job.objects.exists()


def test_a_run_of_a_deleted_job_that_gets_through_all_the_same_is_a_success() -> None:
    job = make_job()
    run = claimed_run(job)
    delete_jobs([job.pk], reason="x")

    end(run, Succeeded(1))

    assert stored(run).status == RunStatus.SUCCESSFUL


def test_a_long_history_is_kept_batch_by_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancel, "DETACHED_AT_ONCE", 2)
    job, other = make_job(), make_job()
    kept = make_run(other)
    for _ in range(5):
        make_run(job, status=RunStatus.SUCCESSFUL, finished_at=now())

    with CaptureQueriesContext(connection) as queries:
        delete_jobs([job.pk], reason="x")

    detaching = [query["sql"] for query in queries if query["sql"].startswith("UPDATE") and "job_id" in query["sql"]]
    assert sum(Run._meta.db_table in sql for sql in detaching) >= 3
    assert Run.objects.filter(job=None).count() == 5
    assert stored(kept).job_id == other.pk


def test_deleting_many_jobs_and_none_counts_them() -> None:
    jobs = [make_job() for _ in range(3)]

    assert delete_jobs([job.pk for job in jobs[:2]], reason="x") == 2
    assert delete_jobs([], reason="x") == 0
    assert delete_jobs([jobs[0].pk], reason="x") == 0
    assert Job.objects.count() == 1


def test_a_job_deleted_past_the_engine_leaves_runs_that_nobody_starts() -> None:
    job = make_job()
    run = make_run(job)
    Job.objects.all().delete()

    assert claim().cancelled == (run.pk,)
    assert Run.objects.get().status == RunStatus.CANCELLED
