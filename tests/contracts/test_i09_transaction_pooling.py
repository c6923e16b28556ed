"""I9: nothing that decides needs the state of a session, so a transaction-pooling proxy may stand in between."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.engine.cancel import cancel_run, delete_jobs
from django_leasejobs.engine.complete import complete_atomically
from django_leasejobs.engine.look import look_ahead
from django_leasejobs.engine.outcomes import Raised
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.progress import record_progress
from django_leasejobs.engine.prune import prune_runs
from django_leasejobs.engine.reclaim import reclaim_leases, release_lease
from django_leasejobs.engine.register import beat, deregister_worker, forget_dead_workers
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.engine.retry import retry_run
from django_leasejobs.engine.sync import sync_jobs
from django_leasejobs.engine.trigger import Order, trigger_job
from tests.engine.test_sync import defined
from tests.support.factories import NOOP, claim, make_due_job, make_job, make_run, make_worker, rng
from tests.support.rows import claimed_run, end, expire

pytestmark = pytest.mark.django_db(transaction=True)

STATE_OF_A_SESSION = re.compile(
    r"\bLISTEN\b|\bUNLISTEN\b|advisory|\bSET\s+(SESSION|TIME ZONE)|^SET (?!LOCAL)|\bPREPARE\b|\bTEMP(ORARY)?\b"
    r"|GET_LOCK|\bDECLARE\b|LOCK TABLES",
    re.IGNORECASE,
)
# MySQL has no setting of a transaction alone. It bounds waits; nothing that decides depends on it.
ALLOWED = re.compile(r"^SET SESSION innodb_lock_wait_timeout = \d+$")


def everything() -> dict[str, Callable[[], Any]]:
    """Return one call of every engine function, with something to do for it."""
    job = make_job(overlap="allow")
    make_due_job(overlap="allow")
    replaced = make_due_job(overlap="replace")
    claimed_run(replaced)
    lost, held, done, handed, asked = (claimed_run(job, retries=1) for _ in range(5))
    expire(lost)
    failed = claimed_run(job)
    end(failed, Raised("E"))
    make_run(job)
    worker = make_worker()
    return {
        "look_ahead": lambda: look_ahead(queues=(), tasks=(NOOP,)),
        "plan_jobs": plan_jobs,
        "claim_runs": lambda: claim(2),
        "renew_leases": lambda: renew_leases([held.token, done.token, 10**9], timeout=5),
        "record_progress": lambda: record_progress({held.token: {"done": 1}}),
        "finish_runs": lambda: end(done, Raised("E")),
        "complete_atomically": lambda: complete_atomically(held, lambda: (1, "log")),
        "cancel_run": lambda: cancel_run(asked.run_id, reason="x"),
        "reclaim_leases": lambda: reclaim_leases(rng=rng()),
        "release_lease": lambda: release_lease(handed.token, reason="x", rng=rng()),
        "retry_run": lambda: retry_run(failed.run_id, reason="x"),
        "trigger_job": lambda: trigger_job(job.name, Order()),
        "trigger_job, replacing": lambda: trigger_job(replaced.name, Order()),
        "sync_jobs": lambda: sync_jobs([defined()]),
        "prune_runs": lambda: prune_runs({"FAILED": timedelta(0)}),
        "beat": lambda: beat(worker.pk, clock_offset=None, stopping=False, timeout=5),
        "forget_dead_workers": forget_dead_workers,
        "deregister_worker": lambda: deregister_worker(worker.pk),
        "delete_jobs": lambda: delete_jobs([replaced.pk, job.pk], reason="x"),
    }


def test_no_statement_of_the_engine_leaves_or_needs_state_in_its_session() -> None:
    acts = everything()
    found: dict[str, list[str]] = {}

    for name, act in acts.items():
        with CaptureQueriesContext(connection) as queries:
            act()
        statements = [query["sql"].strip() for query in queries]
        assert statements, name
        suspicious = [sql for sql in statements if STATE_OF_A_SESSION.search(sql) and not ALLOWED.match(sql)]
        if suspicious:
            found[name] = suspicious

    assert found == {}


def test_a_transaction_notifies_at_most_once() -> None:
    acts = everything()
    counts: dict[str, int] = {}

    for name, act in acts.items():
        with CaptureQueriesContext(connection) as queries:
            act()
        counts[name] = sum("pg_notify" in query["sql"] for query in queries)

    assert {name: count for name, count in counts.items() if count > 1} == {}
    if connection.vendor == "postgresql":
        waking = {name for name, count in counts.items() if count == 1}
        assert waking >= {"plan_jobs", "cancel_run", "retry_run", "trigger_job", "delete_jobs"}
    else:
        assert set(counts.values()) == {0}


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL notifies")
def test_a_run_that_replaces_another_wakes_for_both_in_one_notification() -> None:
    job = make_job(overlap="replace")
    claimed_run(job)

    with CaptureQueriesContext(connection) as queries:
        trigger_job(job.name, Order())

    assert [query["sql"] for query in queries if "pg_notify" in query["sql"]] == [
        "SELECT pg_notify('leasejobs', 'claim cancel')"
    ]


def test_no_function_leaves_its_transaction_open() -> None:
    acts = everything()
    for name, act in acts.items():
        act()
        assert not connection.in_atomic_block, name
        assert connection.get_autocommit(), name
