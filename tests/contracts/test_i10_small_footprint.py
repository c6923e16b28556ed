"""I10: what an operation costs does not grow with the number of rows it is about.

The table is the budget: a number that has to grow needs a reason in the change that lets it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.engine.finish import Report, finish_runs
from django_leasejobs.engine.look import look_ahead
from django_leasejobs.engine.outcomes import Ending, Raised, Succeeded
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.progress import record_progress
from django_leasejobs.engine.prune import prune_runs
from django_leasejobs.engine.reclaim import reclaim_leases
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.models import Lease, RunStatus
from tests.support.factories import NOOP, claim, make_due_job, make_job, make_run, make_task, now, rng
from tests.support.rows import HOUR, claimed_batch, expire

pytestmark = pytest.mark.django_db(transaction=True)

# As many as fit in one statement of SQLite with Django 5.2, which allows it 999 parameters.
MANY = 25


def look(count: int) -> Callable[[], Any]:
    for _ in range(count):
        make_due_job()
        make_run()
    return lambda: look_ahead(queues=(), tasks=(NOOP,))


def plan(count: int) -> Callable[[], Any]:
    for number in range(count):
        make_due_job(overlap="queue" if number % 2 else "allow")
    return plan_jobs


def plan_replacing(count: int) -> Callable[[], Any]:
    make_task()
    for _ in range(count):
        make_run(make_due_job(overlap="replace"))
    claim(count // 2)
    return plan_jobs


def claim_exclusive(count: int) -> Callable[[], Any]:
    make_task()
    for _ in range(count):
        make_run(make_job(overlap="skip"))
    return lambda: claim(count)


def claim_overlapping(count: int) -> Callable[[], Any]:
    make_task()
    for _ in range(count):
        make_run(make_job(overlap="allow"))
    return lambda: claim(count)


def renew(count: int) -> Callable[[], Any]:
    tokens = [run.token for run in claimed_batch(count)]
    return lambda: renew_leases(tokens, timeout=5)


def renew_one_cancelled(count: int) -> Callable[[], Any]:
    tokens = [run.token for run in claimed_batch(count)]
    Lease.objects.filter(pk=tokens[0]).update(cancel_requested_at=now())
    return lambda: renew_leases(tokens, timeout=5)


def progress(count: int) -> Callable[[], Any]:
    values = {run.token: {"done": 1} for run in claimed_batch(count)}
    return lambda: record_progress(values)


def finish(count: int, ending: Ending) -> Callable[[], Any]:
    reports = [Report(run=run, ending=ending) for run in claimed_batch(count, retries=1)]
    return lambda: finish_runs(reports, worker_name="w", rng=rng())


def reclaim(count: int) -> Callable[[], Any]:
    expire(*claimed_batch(count))
    return lambda: reclaim_leases(rng=rng())


def prune(count: int) -> Callable[[], Any]:
    for _ in range(count):
        make_run(status=RunStatus.SUCCESSFUL, finished_at=now() - HOUR)
    return lambda: prune_runs({"SUCCESSFUL": timedelta(0)})


OPERATIONS: dict[str, Callable[[int], Callable[[], Any]]] = {
    "look": look,
    "plan": plan,
    "plan, replacing": plan_replacing,
    "claim, exclusive": claim_exclusive,
    "claim, overlapping": claim_overlapping,
    "renew": renew,
    "renew, one cancelled": renew_one_cancelled,
    "progress": progress,
    "finish, plain": lambda count: finish(count, Succeeded()),
    "finish, with results": lambda count: finish(count, Succeeded({"n": 1})),
    "finish, failed": lambda count: finish(count, Raised("E", "T")),
    "reclaim": reclaim,
    "prune": prune,
}
# Statements with BEGIN, COMMIT and the bound of the statements: PostgreSQL, MariaDB, SQLite.
BUDGET = {
    "look": (1, 1, 1),
    "plan": (9, 8, 7),
    "plan, replacing": (12, 11, 10),
    "claim, exclusive": (8, 8, 7),
    "claim, overlapping": (6, 6, 5),
    "renew": (4, 4, 3),
    "renew, one cancelled": (6, 6, 5),
    "progress": (4, 4, 3),
    "finish, plain": (6, 6, 5),
    "finish, with results": (6, 6, 5),
    "finish, failed": (7, 7, 6),
    "reclaim": (8, 8, 7),
    "prune": (6, 6, 5),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_takes_exactly_its_statements_for_two_rows_and_for_many(name: str) -> None:
    counts = []
    for rows in (2, MANY):
        act = OPERATIONS[name](rows)
        with CaptureQueriesContext(connection) as queries:
            act()
        counts.append(len(queries))
        Lease.objects.all().delete()

    budget = BUDGET[name][("postgresql", "mysql", "sqlite").index(connection.vendor)]
    assert counts == [budget, budget]
