from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.engine.facts import MOST_FAILURES, gather_facts
from django_leasejobs.models import Job, Lease, Run, RunStatus
from django_leasejobs.policies.health import judge
from django_leasejobs.policies.health_facts import JobFacts, LeaseFacts, WaitingFacts, WorkerFacts
from tests.support.factories import NOOP, claim, make_due_job, make_job, make_run, make_task, make_worker, now

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def ended(job: Job | None, status: str, *, ago: timedelta = timedelta(0)) -> Run:
    return make_run(job, status=status, finished_at=now() - ago)


def failures(*outcomes: str) -> int:
    """Tell the failures in a row of a job with these outcomes, the newest first."""
    job = make_job()
    for age, outcome in enumerate(outcomes):
        ended(job, outcome, ago=age * MINUTE)
    (found,) = gather_facts().jobs
    return found.failures_in_row


def codes() -> list[tuple[str, str]]:
    return [(finding.code, finding.subject) for finding in judge(gather_facts())]


def test_an_empty_database_has_no_facts() -> None:
    facts = gather_facts()

    assert (facts.jobs, facts.leases, facts.workers, facts.waiting) == ((), (), (), ())
    assert abs(facts.now - now()) < 10 * SECOND


def test_a_jobs_row_is_told_as_it_is() -> None:
    instant = now()
    make_job(name="a", next_run_at=instant)
    make_job(name="b", schedule_error="minute 61", paused_at=instant, paused_by="eva", pause_reason="holidays")

    assert gather_facts().jobs == (
        JobFacts(name="a", next_run_at=instant),
        JobFacts(name="b", active=False, schedule_error="minute 61"),
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"pause_reason": "3 runs in a row failed"}, "3 runs in a row failed"),
        ({"pause_reason": "holidays", "paused_by": "eva"}, ""),
        ({"pause_reason": "3 runs in a row failed", "enabled": False}, ""),
        ({"pause_reason": "3 runs in a row failed", "retired_at": "2026-01-01T00:00Z"}, ""),
    ],
)
def test_a_pause_is_told_only_when_the_job_paused_itself(values: dict[str, Any], expected: str) -> None:
    make_job(paused_at=now(), **values)

    (job,) = gather_facts().jobs

    assert (job.active, job.pause_reason) == (False, expected)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], 0),
        (["SUCCESSFUL", "FAILED", "FAILED"], 0),
        (["FAILED"], 1),
        (["FAILED", "SUCCESSFUL", "FAILED"], 1),
        (["FAILED", "FAILED", "FAILED", "SUCCESSFUL"], 3),
        (["SKIPPED", "FAILED", "CANCELLED", "MISSED", "FAILED", "SUCCESSFUL"], 2),
        (["FAILED"] * (MOST_FAILURES - 1) + ["SUCCESSFUL"], MOST_FAILURES - 1),
        (["FAILED"] * (MOST_FAILURES + 3), MOST_FAILURES),
    ],
)
def test_failures_are_counted_back_to_the_last_success(outcomes: list[str], expected: int) -> None:
    assert failures(*outcomes) == expected


def test_failures_of_other_jobs_and_of_tasks_do_not_count() -> None:
    ended(make_job(name="a"), RunStatus.FAILED)
    ended(make_job(name="b"), RunStatus.SUCCESSFUL)
    ended(None, RunStatus.FAILED)

    assert {job.name: job.failures_in_row for job in gather_facts().jobs} == {"a": 1, "b": 0}


def test_a_run_that_is_tried_again_is_not_a_failure_yet() -> None:
    job = make_job()
    ended(job, RunStatus.FAILED)
    make_run(job, failures=1)

    assert gather_facts().jobs[0].failures_in_row == 1


def test_leases_say_who_holds_what_until_when() -> None:
    make_task()
    make_run(make_job(name="report"), timeout=5 * MINUTE)
    make_run()
    worker = make_worker(name="w1")
    held = {item.run_id: item for item in claim(2, worker=worker).runs}
    worker.delete()

    leases = {item.run_id: item for item in gather_facts().leases}

    by_job = next(item for item in held.values() if item.job_name)
    of_task = next(item for item in held.values() if not item.job_name)
    expires_at = dict(Lease.objects.values_list("pk", "expires_at"))
    assert leases == {
        by_job.run_id: LeaseFacts(
            token=by_job.token,
            run_id=by_job.run_id,
            worker_name="w1",
            expires_at=expires_at[by_job.token],
            job_name="report",
            deadline=by_job.claimed_at + 5 * MINUTE,
        ),
        of_task.run_id: LeaseFacts(
            token=of_task.token, run_id=of_task.run_id, worker_name="w1", expires_at=expires_at[of_task.token]
        ),
    }


def test_workers_are_told_dead_or_alive() -> None:
    long_ago = now() - 60 * MINUTE
    times = {"started_at": long_ago - MINUTE, "heartbeat_at": long_ago}
    make_worker(name="dead", heartbeat_every=5 * SECOND, tasks=["a", "b"], queues=["mail"], **times)
    make_worker(name="stops", tasks=[], stopping=True, clock_offset=-3 * SECOND, **times)

    assert gather_facts().workers == (
        WorkerFacts(
            name="dead",
            **times,
            heartbeat_every=5 * SECOND,
            tasks=frozenset({"a", "b"}),
            queues=frozenset({"mail"}),
        ),
        WorkerFacts(
            name="stops",
            **times,
            heartbeat_every=20 * SECOND,
            stopping=True,
            clock_offset=-3 * SECOND,
        ),
    )


def test_waiting_runs_are_grouped_by_task_and_queue_since_the_oldest() -> None:
    since = now() - 5 * MINUTE
    for task, queue, available_at in (
        ("a", "default", since),
        ("a", "default", since + MINUTE),
        ("a", "mail", since + 2 * MINUTE),
        ("b", "default", since + 3 * MINUTE),
        ("b", "default", now() + 5 * MINUTE),
    ):
        make_run(task=task, queue=queue, available_at=available_at)
    ended(None, RunStatus.FAILED)

    assert sorted(gather_facts().waiting, key=lambda group: group.since) == [
        WaitingFacts(task="a", queue="default", count=2, since=since),
        WaitingFacts(task="a", queue="mail", count=1, since=since + 2 * MINUTE),
        WaitingFacts(task="b", queue="default", count=1, since=since + 3 * MINUTE),
    ]


def test_a_run_that_waits_for_another_of_its_job_is_left_out() -> None:
    make_task()
    queueing, parallel = make_job(overlap="queue"), make_job(overlap="allow", task="parallel")
    for job in (queueing, parallel):
        make_run(job)
    claim(2, tasks=[NOOP, "parallel"])
    for job in (queueing, parallel):
        make_run(job)

    assert [(group.task, group.count) for group in gather_facts().waiting] == [("parallel", 1)]


def test_what_is_gathered_is_what_is_judged() -> None:
    make_task()
    hour_ago = now() - 60 * MINUTE
    make_worker(name="alive", started_at=hour_ago - MINUTE)
    make_worker(name="dead", heartbeat_at=hour_ago)
    make_due_job(name="late", ago=60 * MINUTE)
    ended(make_job(name="failing"), RunStatus.FAILED)
    make_job(name="quiet")
    stuck = make_run()
    overlong = make_run(timeout=MINUTE)
    claim(2)
    Lease.objects.filter(run=stuck).update(expires_at=hour_ago)
    Lease.objects.filter(run=overlong).update(claimed_at=hour_ago)
    make_run(task="new", available_at=hour_ago)
    make_run(available_at=hour_ago)

    assert codes() == [
        ("stuck-lease", str(Lease.objects.get(run=stuck).token)),
        ("overlong-run", str(overlong.pk)),
        ("late-job", "late"),
        ("unclaimable-run", "new"),
        ("late-run", NOOP),
        ("failing-job", "failing"),
        ("dead-worker", "dead"),
    ]


def test_six_statements_however_much_there_is() -> None:
    def fill() -> None:
        job = make_due_job()
        for outcome in (RunStatus.FAILED, RunStatus.SUCCESSFUL, RunStatus.FAILED):
            ended(job, outcome)
        make_worker()
        make_run(available_at=now() - MINUTE)
        make_run()

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            gather_facts()
        return len(queries)

    make_task()
    assert count() == 6
    for _ in range(20):
        fill()
        claim(1)
    assert count() == 6
