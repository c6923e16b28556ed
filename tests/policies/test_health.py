from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_leasejobs.policies.health import CODES, Finding, Level, Thresholds, can_take, is_alive, judge, worst
from django_leasejobs.policies.health_facts import Facts, JobFacts, LeaseFacts, WaitingFacts, WorkerFacts

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
WARNING, CRITICAL = Level.WARNING, Level.CRITICAL


def worker(**over: Any) -> WorkerFacts:
    values = {
        "name": "w1",
        "started_at": NOW - 60 * MINUTE,
        "heartbeat_at": NOW,
        "heartbeat_every": 10 * SECOND,
        "tasks": frozenset({"shop.report"}),
    }
    return WorkerFacts(**{**values, **over})


def job(**over: Any) -> JobFacts:
    return JobFacts(**{"name": "report", "next_run_at": NOW + MINUTE, **over})


def lease(**over: Any) -> LeaseFacts:
    return LeaseFacts(**{"token": 7, "run_id": 5, "worker_name": "w1", "expires_at": NOW + MINUTE, **over})


def waiting(**over: Any) -> WaitingFacts:
    return WaitingFacts(**{"task": "shop.report", "queue": "default", "count": 2, "since": NOW, **over})


def facts(**over: Any) -> Facts:
    return Facts(**{"now": NOW, "workers": (worker(),), **over})


HEALTHY = {
    "a worker and nothing to do": facts(),
    "a job that is due later": facts(jobs=(job(),)),
    "a job that was due a moment ago": facts(jobs=(job(next_run_at=NOW - 59 * SECOND),)),
    "a job without a next instant": facts(jobs=(job(next_run_at=None),)),
    "a paused job that would be late": facts(jobs=(job(active=False, next_run_at=NOW - 60 * MINUTE),)),
    "a disabled job that failed": facts(jobs=(job(active=False, failures_in_row=9, schedule_error="bad"),)),
    "a lease that lasts": facts(leases=(lease(),)),
    "a run whose timeout is just ending it": facts(leases=(lease(deadline=NOW - 59 * SECOND),)),
    "a lease that has just expired": facts(leases=(lease(expires_at=NOW - 59 * SECOND),)),
    "a run that has just become available": facts(waiting=(waiting(since=NOW - 59 * SECOND),)),
    "a new kind of run during a deploy": facts(waiting=(waiting(task="new", since=NOW - 59 * SECOND),)),
    "a heartbeat that is a little late": facts(workers=(worker(heartbeat_at=NOW - 30 * SECOND),)),
    "a clock that is a little off": facts(workers=(worker(clock_offset=-5 * SECOND),)),
    "a worker that stops beside another": facts(workers=(worker(), worker(name="w2", stopping=True))),
}


@pytest.mark.parametrize("given_facts", HEALTHY.values(), ids=HEALTHY.keys())
def test_nothing_to_say(given_facts: Facts) -> None:
    assert judge(given_facts) == ()


DEAD = worker(heartbeat_at=NOW - 90 * SECOND)
SILENT = Finding(
    level=WARNING,
    code="dead-worker",
    subject="w1",
    words="Worker w1 is silent for 1m30s; its runs move on when their leases expire."
    " Start another in its place, or delete its row in the admin if none is needed.",
)
NOBODY = (
    "and no running worker can take them."
    " Start one whose code has the task and that serves the queue, or cancel the runs."
)

FINDINGS = {
    "late job": (
        facts(jobs=(job(next_run_at=NOW - 61.5 * SECOND),)),
        (WARNING, "late-job", "report", "Job report was due 1m1s ago and is not planned yet."),
    ),
    "very late job": (
        facts(jobs=(job(next_run_at=NOW - 10 * MINUTE),)),
        (CRITICAL, "late-job", "report", "Job report was due 10m ago and is not planned yet."),
    ),
    "schedule error": (
        facts(jobs=(job(next_run_at=None, schedule_error="minute: 61 is out of range 0-59"),)),
        (CRITICAL, "schedule-error", "report", "Job report is not planned: minute: 61 is out of range 0-59"),
    ),
    "one failure": (
        facts(jobs=(job(failures_in_row=1),)),
        (WARNING, "failing-job", "report", "The last run of report failed."),
    ),
    "three failures": (
        facts(jobs=(job(failures_in_row=3),)),
        (CRITICAL, "failing-job", "report", "The last 3 runs of report failed."),
    ),
    "a job that paused itself": (
        facts(jobs=(job(active=False, failures_in_row=3, pause_reason="3 runs in a row failed"),)),
        (
            WARNING,
            "paused-job",
            "report",
            "Job report paused itself: 3 runs in a row failed. It goes on when somebody resumes it.",
        ),
    ),
    "stuck lease": (
        facts(leases=(lease(expires_at=NOW - 2 * MINUTE, job_name="report"),)),
        (
            WARNING,
            "stuck-lease",
            "7",
            "The lease of w1 on run 5 of report expired 2m ago and nobody reclaimed it.",
        ),
    ),
    "stuck lease of a task": (
        facts(leases=(lease(expires_at=NOW - 20 * MINUTE),)),
        (CRITICAL, "stuck-lease", "7", "The lease of w1 on run 5 expired 20m ago and nobody reclaimed it."),
    ),
    "a run past its timeout": (
        facts(leases=(lease(deadline=NOW - 2 * MINUTE, job_name="report"),)),
        (WARNING, "overlong-run", "5", "Run 5 of report goes on 2m after its timeout: w1 can't end it."),
    ),
    "a task's run long past its timeout": (
        facts(leases=(lease(deadline=NOW - 20 * MINUTE),)),
        (CRITICAL, "overlong-run", "5", "Run 5 goes on 20m after its timeout: w1 can't end it."),
    ),
    "a stuck lease of a run past its timeout": (
        facts(leases=(lease(deadline=NOW - 20 * MINUTE, expires_at=NOW - 2 * MINUTE),)),
        (WARNING, "stuck-lease", "7", "The lease of w1 on run 5 expired 2m ago and nobody reclaimed it."),
    ),
    "all workers busy": (
        facts(waiting=(waiting(since=NOW - 20 * MINUTE),)),
        (
            WARNING,
            "late-run",
            "shop.report",
            "Runs of shop.report in queue default (2) wait for a free worker, the oldest for 20m.",
        ),
    ),
    "a task that no worker knows": (
        facts(waiting=(waiting(task="new", since=NOW - 2 * MINUTE),)),
        (
            WARNING,
            "unclaimable-run",
            "new",
            f"Runs of new in queue default (2) wait, the oldest for 2m, {NOBODY}",
        ),
    ),
    "a queue that no worker serves": (
        facts(workers=(worker(queues=frozenset({"mail"})),), waiting=(waiting(since=NOW - 20 * MINUTE),)),
        (
            CRITICAL,
            "unclaimable-run",
            "shop.report",
            f"Runs of shop.report in queue default (2) wait, the oldest for 20m, {NOBODY}",
        ),
    ),
    "a clock ahead": (
        facts(workers=(worker(clock_offset=2 * MINUTE),)),
        (WARNING, "clock-offset", "w1", "The clock of worker w1 is 2m ahead of the database's."),
    ),
    "a clock behind": (
        facts(workers=(worker(clock_offset=-6 * SECOND),)),
        (WARNING, "clock-offset", "w1", "The clock of worker w1 is 6s behind the database's."),
    ),
    "no worker and nothing to do": (
        facts(workers=()),
        (WARNING, "no-worker", "workers", "No worker is running."),
    ),
    "no worker for the jobs": (
        facts(workers=(), jobs=(job(),)),
        (CRITICAL, "no-worker", "workers", "No worker is running, so nothing that comes due is run."),
    ),
    "no worker for what waits": (
        facts(workers=(), waiting=(waiting(since=NOW - 60 * MINUTE),)),
        (CRITICAL, "no-worker", "workers", "No worker is running, so nothing that comes due is run."),
    ),
    "only a worker that stops": (
        facts(workers=(worker(stopping=True),), leases=(lease(),)),
        (CRITICAL, "no-worker", "workers", "All workers are stopping, so nothing that comes due is run."),
    ),
}


@pytest.mark.parametrize(("given_facts", "expected"), FINDINGS.values(), ids=FINDINGS.keys())
def test_one_finding(given_facts: Facts, expected: tuple[Level, str, str, str]) -> None:
    level, code, subject, words = expected

    assert judge(given_facts) == (Finding(level=level, code=code, subject=subject, words=words),)


def test_a_dead_worker_beside_a_live_one_is_a_warning() -> None:
    assert judge(facts(workers=(DEAD, worker(name="w2")))) == (SILENT,)


@pytest.mark.parametrize(
    ("queues", "others", "missed"),
    [
        ("", [""], False),
        ("a b", [""], False),
        ("a b", ["a", "b c"], False),
        ("a b", ["a"], True),
        ("", ["a", "b"], True),
        ("a", [], True),
    ],
)
def test_a_dead_worker_is_told_until_its_queues_are_served_by_others_that_started_since(
    queues: str, others: list[str], missed: bool
) -> None:
    """A killed worker that its supervisor started again is no reason to look for a whole day."""
    dead = replace(DEAD, queues=frozenset(queues.split()))
    since = [
        worker(name=f"new {number}", queues=frozenset(served.split()), started_at=dead.heartbeat_at + SECOND)
        for number, served in enumerate(others)
    ]
    old = worker(name="old")

    assert judge(facts(workers=(dead, old, *since))) == ((SILENT,) if missed else ())
    assert judge(facts(workers=(dead, old, *(replace(item, stopping=True) for item in since)))) == (SILENT,)
    held = judge(facts(workers=(dead, old, *since), leases=(lease(worker_name=dead.name),)))
    assert held == (SILENT,)


def test_the_only_worker_is_dead() -> None:
    found = judge(facts(workers=(DEAD,), jobs=(job(),)))

    assert [(item.level, item.code) for item in found] == [(CRITICAL, "no-worker"), (WARNING, "dead-worker")]


def test_the_worst_comes_first() -> None:
    found = judge(
        facts(
            jobs=(
                job(name="b", failures_in_row=1),
                job(name="a", failures_in_row=1),
                job(name="c", failures_in_row=5),
                job(name="d", next_run_at=NOW - 2 * MINUTE),
            ),
            leases=(lease(expires_at=NOW - 20 * MINUTE),),
        )
    )

    assert [(item.level, item.code, item.subject) for item in found] == [
        (CRITICAL, "stuck-lease", "7"),
        (CRITICAL, "failing-job", "c"),
        (WARNING, "late-job", "d"),
        (WARNING, "failing-job", "a"),
        (WARNING, "failing-job", "b"),
    ]
    assert worst(found) == CRITICAL


def test_the_worst_of_nothing_is_none() -> None:
    assert worst(()) is None


def test_thresholds_can_be_chosen() -> None:
    late = facts(jobs=(job(next_run_at=NOW - 61 * SECOND),))

    assert judge(late, Thresholds(late=2 * MINUTE)) == ()
    assert worst(judge(late, Thresholds(very_late=MINUTE))) == CRITICAL


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        ({}, True),
        ({"queues": frozenset({"default", "mail"})}, True),
        ({"queues": frozenset({"mail"})}, False),
        ({"tasks": frozenset()}, False),
        ({"stopping": True}, False),
    ],
)
def test_can_take(over: dict[str, Any], expected: bool) -> None:
    assert can_take(worker(**over), task="shop.report", queue="default") is expected


@pytest.mark.parametrize(("seconds", "expected"), [(0, True), (30, True), (30.1, False), (-3600, True)])
def test_is_alive(seconds: float, expected: bool) -> None:
    assert is_alive(worker(heartbeat_at=NOW - seconds * SECOND), NOW) is expected


spans = st.integers(-1000, 2000).map(lambda seconds: NOW - seconds * SECOND)
all_facts = st.builds(
    Facts,
    now=st.just(NOW),
    jobs=st.lists(
        st.builds(
            job,
            name=st.sampled_from("abc"),
            active=st.booleans(),
            next_run_at=st.none() | spans,
            schedule_error=st.sampled_from(["", "bad"]),
            failures_in_row=st.integers(0, 5),
        ),
        max_size=4,
    ).map(tuple),
    leases=st.lists(st.builds(lease, token=st.integers(1, 99), expires_at=spans), max_size=3).map(tuple),
    workers=st.lists(st.builds(worker, heartbeat_at=spans, stopping=st.booleans()), max_size=3).map(tuple),
    waiting=st.lists(st.builds(waiting, since=spans, task=st.sampled_from(["shop.report", "new"])), max_size=3).map(
        tuple
    ),
)


@given(all_facts)
def test_findings_are_sorted_and_each_says_something(given_facts: Facts) -> None:
    found = judge(given_facts)

    assert [item.level for item in found] == sorted((item.level for item in found), key=[CRITICAL, WARNING].index)
    assert all(item.code in CODES and item.subject and item.words for item in found)


@given(all_facts, st.randoms(use_true_random=False))
def test_the_order_of_the_facts_does_not_matter(given_facts: Facts, rng: Any) -> None:
    def shuffled(items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(rng.sample(items, len(items)))

    other = replace(
        given_facts,
        jobs=shuffled(given_facts.jobs),
        leases=shuffled(given_facts.leases),
        workers=shuffled(given_facts.workers),
        waiting=shuffled(given_facts.waiting),
    )

    assert judge(other) == judge(given_facts)


@given(all_facts)
def test_waiting_longer_never_makes_anything_better(given_facts: Facts) -> None:
    """Only workers can turn up meanwhile; what is late stays late."""
    later = replace(given_facts, now=NOW + MINUTE)

    before = {(item.code, item.subject) for item in judge(given_facts) if item.code in ("late-job", "stuck-lease")}
    after = {(item.code, item.subject) for item in judge(later)}

    assert before <= after
