"""I7: a job that kills its worker, fails or can't be read is bounded, and stops only itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from django_leasejobs.engine.outcomes import Died, Raised
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.reclaim import reclaim_leases
from django_leasejobs.models import Attempt, Job, Run, RunStatus
from tests.support.factories import claim, make_due_job, make_job, make_run, make_task, now, rng
from tests.support.rows import claimed_run, end, expire, stored

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 20


def make_available(run: Any) -> None:
    Run.objects.filter(pk=run.run_id).update(available_at=now())


@pytest.mark.parametrize("max_lost", [0, 1, 3])
@pytest.mark.parametrize("noticed_by", ["its worker", "another worker"])
def test_a_run_that_kills_its_worker_each_time_is_given_up_and_says_so(max_lost: int, noticed_by: str) -> None:
    run = claimed_run(make_job(), max_lost=max_lost)
    starts = 1

    for _ in range(ROUNDS):
        if noticed_by == "its worker":
            end(run, Died("killed by signal 9"))
        else:
            expire(run)
            reclaim_leases(rng=rng())
        make_available(run)
        again = claim().runs
        if not again:
            break
        (run,) = again
        starts += 1

    row = stored(run)
    assert (starts, row.status, row.lost, row.failures) == (max_lost + 1, RunStatus.FAILED, max_lost + 1, 0)
    assert row.reason.startswith("lost its lease ")
    assert Attempt.objects.filter(outcome="lost").count() == starts


@pytest.mark.parametrize("retries", [0, 2])
def test_a_run_that_fails_each_time_is_retried_so_often_and_keeps_its_traceback(retries: int) -> None:
    run = claimed_run(make_job(), retries=retries)
    waits: list[timedelta] = []

    for _ in range(ROUNDS):
        (settled,) = end(run, Raised("ValueError: bad", "Traceback ...")).recorded
        waits.append(settled.verdict.delay)
        make_available(run)
        again = claim().runs
        if not again:
            break
        (run,) = again

    row = stored(run)
    assert (row.status, row.failures, row.error, row.traceback) == (
        RunStatus.FAILED, retries + 1, "ValueError: bad", "Traceback ...",
    )  # fmt: skip
    assert len(waits) == retries + 1
    assert all(wait > timedelta(0) for wait in waits[:-1])


def test_losses_do_not_use_up_retries_nor_the_other_way_round() -> None:
    run = claimed_run(make_job(), retries=1, max_lost=1)
    for ending in (Died("gone"), Raised("E")):
        end(run, ending)
        make_available(run)
        (run,) = claim().runs

    assert (run.lost, run.failures, run.attempt) == (1, 1, 3)


@pytest.mark.parametrize(
    "bad",
    [
        {"schedule": "not a schedule"},
        {"schedule": "0 0 31 2 *"},
        {"timezone": "Mars/Olympus"},
        {"timezone": "America"},
        {"timezone": "../UTC"},
        {"exclude": ["no such calendar"]},
        {"exclude": 5},
    ],
    ids=str,
)
def test_a_broken_row_stops_only_itself(bad: dict[str, Any]) -> None:
    broken = make_due_job(**bad)
    good = [make_due_job(), make_due_job()]

    planned = plan_jobs()

    broken.refresh_from_db()
    assert planned.runs == 2
    assert [name for name, _ in planned.broken] == [broken.name]
    assert set(Run.objects.values_list("job_id", flat=True)) == {job.pk for job in good}
    assert broken.next_run_at is None
    assert broken.schedule_error
    assert plan_jobs().broken == ()
    assert Job.objects.filter(schedule_error="").count() == 2


def test_a_run_of_an_unknown_task_in_front_does_not_hold_up_the_rest() -> None:
    make_task()
    for _ in range(5):
        make_run(task="of.the.next.deployment", priority=100)
    known = make_run()

    assert [run.run_id for run in claim().runs] == [known.pk]
