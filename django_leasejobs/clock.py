"""The database's clock: the only one that decides anything."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.db.models import DateTimeField, Func

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models.sql.compiler import SQLCompiler

POSTGRESQL_NOW = "STATEMENT_TIMESTAMP()"
MYSQL_NOW = "UTC_TIMESTAMP(6)"
SQLITE_NOW = "STRFTIME('%Y-%m-%d %H:%M:%f000', 'NOW')"


class DatabaseNow(Func):
    """The instant at which the database began the statement, in UTC.

    PostgreSQL's ``now()`` is the start of the transaction, which may be minutes ago, and MySQL's is in the
    session's time zone; both would let two sessions disagree about what is expired. SQLite counts milliseconds.
    """

    arity = 0
    output_field = DateTimeField()

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *args: Any, **extra: Any
    ) -> tuple[str, Any]:
        raise NotImplementedError(f"django_leasejobs has no clock for the database vendor {connection.vendor!r}.")

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *args: Any, **extra: Any
    ) -> tuple[str, Any]:
        return POSTGRESQL_NOW, []

    def as_mysql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *args: Any, **extra: Any
    ) -> tuple[str, Any]:
        return MYSQL_NOW, []

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, *args: Any, **extra: Any
    ) -> tuple[str, Any]:
        return SQLITE_NOW.replace("%", "%%"), []


def now_sql(connection: BaseDatabaseWrapper) -> str:
    """Return the SQL of ``DatabaseNow`` for statements that are written by hand."""
    return {"postgresql": POSTGRESQL_NOW, "mysql": MYSQL_NOW, "sqlite": SQLITE_NOW}[connection.vendor]


def database_now(using: str) -> dt.datetime:
    """Ask the database for its time, as an aware UTC datetime. One statement."""
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {now_sql(connection)}")
        value = cursor.fetchone()[0]
    return as_utc(value)


def as_utc(value: dt.datetime | str) -> dt.datetime:
    """Make an aware UTC datetime of what a driver returned for ``DatabaseNow``."""
    if isinstance(value, str):
        value = dt.datetime.fromisoformat(value)
    return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)
