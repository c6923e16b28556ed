"""I9: nothing that decides needs the state of a session, so a transaction-pooling proxy may stand in between."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.engine.trigger import Order, trigger_job
from tests.support.every_function import everything
from tests.support.factories import make_job
from tests.support.rows import claimed_run

pytestmark = pytest.mark.django_db(transaction=True)

STATE_OF_A_SESSION = re.compile(
    r"\bLISTEN\b|\bUNLISTEN\b|advisory|\bSET\s+(SESSION|TIME ZONE)|^SET (?!LOCAL)|\bPREPARE\b|\bTEMP(ORARY)?\b"
    r"|GET_LOCK|\bDECLARE\b|LOCK TABLES",
    re.IGNORECASE,
)
# MySQL has no setting of a transaction alone. It bounds waits; nothing that decides depends on it.
ALLOWED = re.compile(r"^SET SESSION innodb_lock_wait_timeout = \d+$")


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
