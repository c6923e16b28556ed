"""What a worker asks all the time is answered by an index, however many jobs and however long the history.

The databases' own plans are read: neither a scan of a table nor a sort of more than a few rows may be in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from django_leasejobs.conf import DEFAULT_RETENTION
from django_leasejobs.engine.look import look_ahead
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.prune import prune_runs
from django_leasejobs.engine.reclaim import reclaim_leases
from django_leasejobs.models import Job, Run
from tests.support.factories import NOOP, claim, rng
from tests.support.volume import empty, explain, fill

pytestmark = pytest.mark.django_db

# Nodes that read a whole table, and those that sort.
SCANS = {
    "postgresql": rf"Seq Scan on ({Run._meta.db_table}|{Job._meta.db_table})\b",
    "mysql": r"\bALL\b",
    "sqlite": r"SCAN leasejobs_(run|job)(?! USING)",
}
SORTS = {"postgresql": r"\bSort\b", "mysql": r"filesort|temporary", "sqlite": r"USE TEMP B-TREE"}


@pytest.fixture(scope="module", autouse=True)
def _many_rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        fill(jobs=20_000, finished=200_000, waiting=500, deferred=5_000, running=2_000)
    yield
    with django_db_blocker.unblock():
        empty()


def plans_of(act: Callable[[], Any], *, only: str = "") -> list[str]:
    """Return the plans of what an engine function selects, made in the state that it found."""
    with CaptureQueriesContext(connection) as queries, transaction.atomic():
        act()
        transaction.set_rollback(True)
    statements = [query["sql"] for query in queries if query["sql"].startswith("SELECT") and only in query["sql"]]
    assert statements
    return [explain(sql) for sql in statements]


def assert_by_index(plan: str, index: str, *, sorts: bool = False) -> None:
    assert index in plan, plan
    assert not re.search(SCANS[connection.vendor], plan), plan
    if not sorts:
        assert not re.search(SORTS[connection.vendor], plan), plan


def test_due_jobs_are_found_by_their_index() -> None:
    assert_by_index(plans_of(plan_jobs)[0], "leasejobs_job_due")


@pytest.mark.parametrize("queues", [(), ("queue 3",), ("queue 3", "queue 5")], ids=["all", "one", "some"])
def test_the_claim_goes_along_its_index_in_order(queues: tuple[str, ...]) -> None:
    """A locking read that sorts locks every candidate, so that a second worker sees nothing.

    SQLite, which has no row locks, prefers to sort what is due.
    """
    sqlite = connection.vendor == "sqlite"

    plan = plans_of(lambda: claim(4, queues=queues))[0]

    assert_by_index(plan, "leasejobs_run_" if sqlite else "leasejobs_run_claim", sorts=sqlite)


def test_expired_leases_are_found_by_their_index() -> None:
    assert_by_index(plans_of(lambda: reclaim_leases(rng=rng(), limit=10))[0], "leasejobs_lease_expired")


@pytest.mark.parametrize("status", ["SUCCESSFUL", "FAILED"])
def test_history_past_its_retention_is_found_by_its_index(status: str) -> None:
    retention = {status: DEFAULT_RETENTION[status]}
    assert retention[status] in (timedelta(days=7), timedelta(days=30))

    assert_by_index(plans_of(lambda: prune_runs(retention, limit=100))[0], "leasejobs_run_prune")


def test_unfinished_runs_of_due_jobs_are_counted_by_their_index() -> None:
    Job.objects.update(overlap="skip")

    (plan,) = plans_of(plan_jobs, only="COUNT(")

    assert_by_index(plan, "leasejobs_run_active", sorts=True)


def test_an_idle_look_reads_no_table() -> None:
    """MariaDB reads the ends of indexes while it plans, and names none of them."""
    (plan,) = plans_of(lambda: look_ahead(queues=(), tasks=(NOOP,)))

    assert_by_index(plan, "leasejobs_run_", sorts=True)
    if connection.vendor != "mysql":
        assert_by_index(plan, "leasejobs_job_due", sorts=True)
        assert_by_index(plan, "leasejobs_lease_expired", sorts=True)


def test_every_statement_of_a_plan_is_answered_by_indexes() -> None:
    for plan in plans_of(plan_jobs):
        assert not re.search(SCANS[connection.vendor], plan), plan


def test_every_statement_of_a_claim_is_answered_by_indexes() -> None:
    Run.objects.filter(status="READY").update(exclusive=True)

    for plan in plans_of(lambda: claim(4)):
        assert not re.search(SCANS[connection.vendor], plan), plan
