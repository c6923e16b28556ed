"""The few places where databases differ: locks, statement timeouts, retryable errors, notifications."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, connections, router

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models import Model, QuerySet

CHANNEL = "leasejobs"
WAKE_CLAIM = "claim"
WAKE_CANCEL = "cancel"

# serialization_failure, deadlock_detected, lock_not_available
POSTGRESQL_RETRYABLE = frozenset({"40001", "40P01", "55P03"})
# ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK, ER_CHECKREAD (a row changed since it was read)
MYSQL_RETRYABLE = frozenset({1205, 1213, 1020})


def is_retryable(error: BaseException) -> bool:
    """Tell whether the same transaction may well succeed when tried again at once on the same connection."""
    if not isinstance(error, DatabaseError):
        return False
    cause = error.__cause__
    state = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    if state is not None:
        return state in POSTGRESQL_RETRYABLE
    code = cause.args[0] if cause is not None and cause.args else None
    if isinstance(code, int):
        return code in MYSQL_RETRYABLE
    return "locked" in str(error).lower() or "busy" in str(error).lower()


def is_database_fault(error: BaseException) -> bool:
    """Tell whether the database was at fault, and the loop that met this should back off and go on."""
    return isinstance(error, DatabaseError | InterfaceError)


def is_refusal(error: BaseException) -> bool:
    """Tell whether the database refused a value, as it will each time: a sign its encoding lacks, JSON too deep."""
    return isinstance(error, DataError | IntegrityError)


def lock(rows: QuerySet[Any], *, skip_locked: bool = False) -> QuerySet[Any]:
    """Lock the rows that a query returns until the transaction ends.

    ``no_key`` lets foreign keys be checked against the locked rows meanwhile. SQLite has no row locks: there
    the write transaction that a ``short_transaction`` opens keeps all others out.
    """
    no_key = connections[rows.db].features.has_select_for_no_key_update
    return rows.select_for_update(skip_locked=skip_locked, no_key=no_key)


@contextmanager
def write_lock_at_begin(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Let SQLite's next transaction take the write lock when it begins.

    A transaction that reads first and writes later fails at once with "database is locked" when another wrote
    in between, whatever the timeout; one that begins IMMEDIATE waits its turn.
    """
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    wrapper: Any = connection
    before = wrapper.transaction_mode
    wrapper.transaction_mode = "IMMEDIATE"
    try:
        yield
    finally:
        wrapper.transaction_mode = before


def limit_statements(connection: BaseDatabaseWrapper, seconds: float) -> None:
    """Bound each further statement of this transaction, so that none of ours hangs for ever.

    PostgreSQL: for this transaction only, as a session's setting would outlive it behind a pooling proxy. MySQL has
    no such setting; there it bounds the waits for locks, of the whole session.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {int(seconds * 1000)}")
    elif connection.vendor == "mysql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET SESSION innodb_lock_wait_timeout = {max(1, int(seconds))}")


def notify(using: str, *words: str) -> None:
    """Tell listening workers after commit, on PostgreSQL; call it once in a transaction, with all words for it."""
    connection = connections[using]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, " ".join(words)])


def can_listen(using: str) -> bool:
    """Tell whether this database wakes listeners: PostgreSQL with psycopg 3."""
    if connections[using].vendor != "postgresql":
        return False
    from django.db.backends.postgresql.psycopg_any import is_psycopg3

    return bool(is_psycopg3)


def returns_keys(using: str) -> bool:
    """Tell whether a bulk insert returns the new keys; MySQL's doesn't."""
    return bool(connections[using].features.can_return_rows_from_bulk_insert)


def write_alias(model: type[Model], configured: str | None) -> str:
    """Return the alias that rows are written to: the configured one, else the router's.

    Leases are always read there too: a replica may not know yet who holds what.
    """
    return configured or router.db_for_write(model)
