from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.db.backends.signals import connection_created

from django_leasejobs.worker.connections import SESSION_STATEMENT, after_run, before_run, watch_sessions
from tests.support.testjobs.models import Unique

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _kept_connection(monkeypatch):
    """Keep the connection from run to run, watched, and start with a new one."""
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 60)
    watch_sessions()
    connection.close()
    yield
    connection_created.disconnect(dispatch_uid="leasejobs-session-watch")
    connection.close()
    connection.execute_wrappers.clear()


def query():
    Unique.objects.count()
    return connection.connection


def test_a_connection_that_a_job_used_well_is_kept():
    used = query()
    Unique.objects.create(name="one")
    with transaction.atomic():
        Unique.objects.create(name="two")
    after_run()
    before_run()
    assert query() is used


def test_statements_kept_for_debugging_are_forgotten_from_run_to_run(settings):
    settings.DEBUG = True
    query()
    assert connection.queries
    before_run()
    assert not connection.queries


def begin():
    connection.set_autocommit(False)


def break_off():
    connection.set_autocommit(False)
    connection.in_atomic_block = True
    connection.needs_rollback = True


def set_something():
    with connection.cursor() as cursor:
        cursor.execute(
            {"postgresql": "SET statement_timeout = 1", "mysql": "SET SESSION max_statement_time = 1"}.get(
                connection.vendor, "PRAGMA query_only = ON"
            )
        )


def fail():
    connection.errors_occurred = True


@pytest.mark.parametrize("spoil", [begin, break_off, set_something, fail])
def test_a_connection_that_a_job_left_otherwise_is_closed(spoil):
    used = query()
    spoil()
    after_run()
    assert connection.connection is None
    before_run()
    assert query() is not used
    assert connection.get_autocommit()
    Unique.objects.create(name="writes again")


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no server that could end a session")
def test_a_connection_that_broke_in_between_is_replaced_before_the_next_run():
    used = query()
    after_run()
    used.close()
    before_run()
    assert query() is not used


@pytest.mark.parametrize(
    "sql",
    [
        "SET search_path = x", " set session time_zone = '+0'", "RESET ALL", "PRAGMA foreign_keys=OFF", "LISTEN x",
        "CREATE TEMP TABLE t (n int)", "create temporary table t (n int)", "PREPARE p AS SELECT 1", "ATTACH 'x' AS y",
        "SELECT set_config('a', 'b', false)", "SELECT pg_advisory_lock(1)", "SELECT GET_LOCK('a', 1)",
    ],
)  # fmt: skip
def test_statements_that_outlive_a_transaction_are_noticed(sql):
    assert SESSION_STATEMENT.search(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "SET LOCAL statement_timeout = 1",
        "UPDATE t SET a = 1",
        "INSERT INTO settings VALUES (1)",
        "SAVEPOINT a",
    ],
)
def test_plain_statements_are_not(sql):
    assert not SESSION_STATEMENT.search(sql)
