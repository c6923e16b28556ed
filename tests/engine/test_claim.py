from __future__ import annotations

from datetime import timedelta

import pytest

from django_leasejobs.engine.claim import Claims, Late
from django_leasejobs.models import Attempt, Lease, Run, RunStatus
from tests.support.factories import NOOP, claim, make_job, make_run, make_task, make_worker, now
from tests.support.rows import HOUR, SECOND, all_rows, claimed_run, expire, stored

pytestmark = pytest.mark.django_db


def ids(claims: Claims) -> list[int]:
    return [run.run_id for run in claims.runs]


def test_a_claim_of_nothing_is_empty_and_writes_nothing() -> None:
    before = all_rows()

    assert claim() == Claims()
    assert all_rows() == before


def test_a_claim_makes_the_run_running_under_a_lease_of_the_worker() -> None:
    worker = make_worker(name="w1")
    job = make_job(lease=timedelta(seconds=45))
    run = make_run(job, lease_duration=timedelta(seconds=45))
    before = now()

    (got,) = claim(worker=worker).runs

    lease, row = Lease.objects.get(), stored(run)
    assert (got.token, got.run_id, got.attempt, got.lease) == (lease.pk, run.pk, 1, timedelta(seconds=45))
    assert (lease.run_id, lease.exclusive_job_id, lease.worker_id) == (run.pk, job.pk, worker.pk)
    assert lease.expires_at - lease.claimed_at == timedelta(seconds=45)
    assert before <= lease.claimed_at == lease.renewed_at == got.claimed_at <= now()
    assert (row.status, row.token, row.worker_name, row.finished_at) == (RunStatus.RUNNING, lease.pk, "w1", None)
    assert row.started_at is not None
    assert before <= row.started_at <= now()
    assert row.last_attempted_at == row.started_at


def test_a_claimed_run_carries_all_that_executing_and_ending_it_needs() -> None:
    job = make_job(name="report")
    instant = now() - HOUR
    run = make_run(
        job, args=[1, "a"], kwargs={"b": None}, state={"row": 7}, queue="slow", scheduled_for=instant,
        failures=1, lost=2, retries=4, backoff=timedelta(seconds=3), max_lost=5, timeout=timedelta(seconds=9),
        available_at=instant,
    )  # fmt: skip

    (got,) = claim().runs

    assert (got.job_id, got.job_name, got.task, got.args, got.kwargs) == (job.pk, "report", NOOP, [1, "a"], {"b": None})
    assert (got.run_id, got.state, got.queue, got.scheduled_for) == (run.pk, {"row": 7}, "slow", instant)
    assert (got.failures, got.lost, got.attempt, got.retries, got.max_lost) == (1, 2, 4, 4, 5)
    assert (got.backoff, got.timeout, got.available_at) == (timedelta(seconds=3), timedelta(seconds=9), instant)


def test_the_highest_priority_comes_first_then_the_longest_waiting_then_the_oldest_row() -> None:
    instant = now()
    late = make_run(available_at=instant - SECOND)
    early = make_run(available_at=instant - HOUR)
    low = make_run(priority=-5, available_at=instant - 2 * HOUR)
    high = make_run(priority=5, available_at=instant - SECOND)
    twin = make_run(available_at=instant - HOUR)

    assert ids(claim(10)) == [high.pk, early.pk, twin.pk, late.pk, low.pk]


def test_a_claim_takes_no_more_than_its_limit() -> None:
    for _ in range(3):
        make_run()

    assert len(claim(2).runs) == 2
    assert Run.objects.filter(status=RunStatus.READY).count() == 1
    assert Lease.objects.count() == 2


def test_a_run_is_left_alone_until_it_is_available() -> None:
    make_run(available_at=now() + HOUR)

    assert claim(10) == Claims()


@pytest.mark.parametrize(
    ("queues", "expected"), [((), {"a", "b", "c"}), (("a",), {"a"}), (("a", "c"), {"a", "c"}), (("x",), set())]
)
def test_a_worker_takes_only_from_its_queues(queues: tuple[str, ...], expected: set[str]) -> None:
    for queue in "abc":
        make_run(queue=queue)

    assert {run.queue for run in claim(10, queues=queues).runs} == expected


def test_a_run_of_an_unknown_task_is_left_for_a_worker_that_knows_it() -> None:
    """I7"""
    new = make_run(task="of.the.next.deployment")
    known = make_run()

    assert ids(claim(10)) == [known.pk]
    assert stored(new).status == RunStatus.READY
    assert ids(claim(10, tasks=["of.the.next.deployment"])) == [new.pk]


def test_a_worker_without_any_task_claims_nothing() -> None:
    make_run()

    assert claim(10, tasks=()) == Claims()


@pytest.mark.parametrize("status", [status for status in RunStatus if status != RunStatus.READY])
def test_only_ready_runs_are_claimed(status: RunStatus) -> None:
    make_run(status=status, finished_at=None if status == RunStatus.RUNNING else now())

    assert claim(10) == Claims()


def test_a_run_past_its_start_deadline_is_missed() -> None:
    run = make_run(make_job(), start_before=now() - SECOND)

    got = claim(10)

    row = stored(run)
    assert got == Claims(missed=(Late(run.pk, run.job_name, run.available_at),), contended=True)
    assert (row.status, row.reason) == (RunStatus.MISSED, "could not start within its start deadline")
    assert row.finished_at is not None
    assert not Lease.objects.exists()


def test_a_run_within_its_start_deadline_starts() -> None:
    run = make_run(make_job(), start_before=now() + HOUR)

    assert ids(claim()) == [run.pk]


@pytest.mark.parametrize("before", [{"failures": 1}, {"lost": 1}, {}], ids=["failed", "lost", "handed back"])
def test_a_run_that_started_in_time_is_tried_again_after_its_start_deadline(before: dict[str, int]) -> None:
    run = make_run(make_job(), start_before=now() - SECOND, started_at=now() - HOUR, **before)

    assert ids(claim()) == [run.pk]


def test_the_first_start_is_kept_and_the_last_one_moves() -> None:
    first = now() - HOUR
    run = make_run(started_at=first, last_attempted_at=first, failures=1)

    claim()

    row = stored(run)
    assert row.started_at == first
    assert row.last_attempted_at is not None
    assert row.last_attempted_at > first


def test_a_run_whose_job_was_deleted_is_cancelled_and_a_task_without_a_job_runs() -> None:
    orphan = make_run(origin="schedule", job_name="gone")
    task = make_run(origin="task")

    got = claim(10)

    assert (ids(got), got.cancelled, got.contended) == ([task.pk], (orphan.pk,), True)
    assert (stored(orphan).status, stored(orphan).reason) == (RunStatus.CANCELLED, "its job was deleted")


def test_late_runs_in_front_do_not_keep_a_worker_from_looking_on() -> None:
    for _ in range(2):
        make_run(make_job(), priority=1, start_before=now() - SECOND)
    good = make_run()

    assert claim(2).contended
    assert ids(claim(2)) == [good.pk]


def test_an_exclusive_job_runs_one_at_a_time_the_longest_waiting_first() -> None:
    """I1"""
    job = make_job(overlap="queue")
    second = make_run(job, available_at=now() - SECOND)
    first = make_run(job, available_at=now() - HOUR)

    got = claim(10)

    assert (ids(got), got.contended) == ([first.pk], True)
    assert claim(10) == Claims()
    assert stored(second).status == RunStatus.READY


def test_runs_of_a_job_that_may_overlap_run_side_by_side() -> None:
    job = make_job(overlap="allow")
    runs = [make_run(job) for _ in range(3)]

    got = claim(10)

    assert (ids(got), got.contended) == ([run.pk for run in runs], False)
    assert set(Lease.objects.values_list("exclusive_job_id", flat=True)) == {None}


def test_a_run_that_was_triggered_beside_the_overlap_policy_runs_beside_it() -> None:
    job = make_job(overlap="skip")
    claimed_run(job)
    beside = make_run(job, exclusive=False)

    assert ids(claim(10)) == [beside.pk]


def test_an_expired_lease_still_keeps_an_exclusive_job_until_somebody_ends_it() -> None:
    """I1: an expired lease that nobody took is still the one that counts."""
    job = make_job()
    expire(claimed_run(job))
    make_run(job)

    assert claim(10) == Claims()


def test_each_lease_lasts_as_long_as_its_own_run_says() -> None:
    for seconds in (2, 600):
        make_run(lease_duration=timedelta(seconds=seconds))

    claim(2)

    terms = {lease.expires_at - lease.claimed_at for lease in Lease.objects.all()}
    assert terms == {timedelta(seconds=2), timedelta(seconds=600)}


def test_tokens_of_later_claims_are_larger() -> None:
    """I4"""
    for _ in range(4):
        make_run()

    tokens = [run.token for _ in range(2) for run in claim(2).runs]

    assert len(set(tokens)) == 4
    assert max(tokens[:2]) < min(tokens[2:])


def test_a_claim_without_a_worker_row_is_a_claim_like_others() -> None:
    make_task()
    make_run()

    claim()

    assert Lease.objects.get().worker_id is None
    assert not Attempt.objects.exists()
