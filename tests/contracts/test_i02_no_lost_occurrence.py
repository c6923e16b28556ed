"""I2: each due instant becomes exactly one row, whoever dies between whichever statements."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.models import Job, Run
from tests.support.deaths import deaths_of
from tests.support.factories import make_due_job
from tests.support.sessions import Side

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = timedelta(minutes=1)


def rows_of(job: Job) -> list[datetime]:
    """Return every instant that the rows of a job stand for."""
    instants: list[datetime] = []
    for run in Run.objects.filter(job=job).order_by("scheduled_for"):
        assert run.scheduled_for is not None
        instants += [run.scheduled_for + MINUTE * number for number in range(run.instants)]
        assert instants[-1] == (run.scheduled_until or run.scheduled_for)
    return instants


def expected(job: Job, first: datetime) -> list[datetime]:
    """Return every minute from ``first`` to the one before the job's next instant."""
    job.refresh_from_db()
    assert job.next_run_at is not None
    return [first + MINUTE * number for number in range(int((job.next_run_at - first) / MINUTE))]


@pytest.mark.parametrize("catch_up", ["latest", "all", "none"])
def test_a_planner_that_dies_before_any_statement_loses_and_doubles_nothing(catch_up: str) -> None:
    job = make_due_job(ago=5 * MINUTE, catch_up=catch_up, overlap="queue")
    first = job.next_run_at
    assert first is not None

    deaths = list(deaths_of(plan_jobs))

    assert len(deaths) >= 5
    assert rows_of(job) == expected(job, first)
    assert len(rows_of(job)) >= 5


def test_planners_at_once_give_each_instant_of_each_job_one_row() -> None:
    jobs = [make_due_job(ago=5 * MINUTE, catch_up="all", overlap="allow") for _ in range(6)]
    firsts = [job.next_run_at for job in jobs]

    def plan() -> None:
        while plan_jobs(limit=2).jobs:
            pass

    for side in [Side(plan) for _ in range(3)]:
        side.result()
    plan()

    for job, first in zip(jobs, firsts, strict=True):
        assert first is not None
        assert rows_of(job) == expected(job, first)
