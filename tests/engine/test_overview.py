"""What ``list_jobs`` shows is tested with the command; here is what else people ask."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.engine.jobs import find_job
from django_leasejobs.engine.outcomes import Raised
from django_leasejobs.engine.overview import RunOverview, all_jobs, has_a_worker, look_at_run
from django_leasejobs.exceptions import UnknownJob
from django_leasejobs.models import Run, RunStatus
from tests.support.factories import make_job, make_run, make_worker, now
from tests.support.rows import HOUR, claimed_run, end

pytestmark = pytest.mark.django_db


def test_a_job_is_found_by_its_name_alone() -> None:
    make_job(name="report.daily")
    job = make_job(name="report")

    assert find_job("report") == job


def test_an_unknown_job_is_told_with_the_close_names() -> None:
    make_job(name="report")

    with pytest.raises(UnknownJob, match=r"no job named 'reprot' in the job table\. Did you mean 'report'\?"):
        find_job("reprot")


def test_a_waiting_run() -> None:
    run = make_run(make_job(name="report"))

    assert look_at_run(run.pk) == RunOverview(
        id=run.pk,
        job_name="report",
        status="READY",
        finished=False,
        reason="",
        error="",
        result=None,
        attempt=1,
        worker_name="",
        started_at=None,
        finished_at=None,
    )


def test_the_attempts_of_a_run_that_fails_are_counted_from_one() -> None:
    got = claimed_run(make_job(), retries=1, backoff=timedelta(0))
    seen = [look_at_run(got.run_id)]
    end(got, Raised("it failed", "", timed_out=False))
    seen.append(look_at_run(got.run_id))
    Run.objects.filter(pk=got.run_id).update(status=RunStatus.FAILED, failures=2, finished_at=now())
    seen.append(look_at_run(got.run_id))

    assert [(item.status, item.attempt, item.finished) for item in seen if item is not None] == [
        ("RUNNING", 1, False),
        ("READY", 2, False),
        ("FAILED", 2, True),
    ]


def test_a_run_without_a_row_is_none() -> None:
    assert look_at_run(4711) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, True),
        ({"queues": ["mail", "default"]}, True),
        ({"queues": ["mail"]}, False),
        ({"tasks": ["other"]}, False),
        ({"stopping": True}, False),
    ],
)
def test_whether_a_worker_takes_a_task(values: dict[str, object], expected: bool) -> None:
    make_worker(**{"tasks": ["report"], **values})

    assert has_a_worker(task="report", queue="default") is expected


def test_a_dead_worker_takes_nothing() -> None:
    make_worker(tasks=["report"], heartbeat_at=now() - HOUR)

    assert not has_a_worker(task="report", queue="default")


def test_four_statements_list_any_number_of_jobs() -> None:
    for _ in range(30):
        make_run(make_job(schedule="0 0 * * *"), status=RunStatus.FAILED, finished_at=now())

    with CaptureQueriesContext(connection) as queries:
        jobs = all_jobs()

    assert (len(jobs), len(queries)) == (30, 4)
