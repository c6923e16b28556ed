"""A virtual clock under the real engine: each database is told what time it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from django.db import connection

START = datetime(2027, 1, 4, tzinfo=UTC)


class VirtualClock:
    """Seconds since the start, which only the simulation moves; workers' ticks and the database follow it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._tell()

    @property
    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def advance(self, seconds: float) -> None:
        self.seconds += seconds
        self._tell()

    def _tell(self) -> None:
        """Tell the session; SQLite's asks by itself."""
        if connection.vendor == "postgresql":
            _execute(f"SET simulation.now = '{self.now.isoformat()}'")
        elif connection.vendor == "mysql":
            _execute(f"SET timestamp = {self.now.timestamp():.6f}")
        else:
            _install_strftime(self)


@contextmanager
def virtual_time() -> Iterator[None]:
    """Let the very function that the engine asks for the time be answered by the simulation, on this connection."""
    if connection.vendor == "postgresql":
        # A function of the same name in a schema that is searched before the built-in ones.
        _execute("CREATE SCHEMA simulation")
        _execute(
            "CREATE FUNCTION simulation.statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql"
            " AS 'SELECT current_setting(''simulation.now'')::timestamptz'"
        )
        _execute("SET search_path = simulation, pg_catalog, public")
    try:
        yield
    finally:
        if connection.vendor == "postgresql":
            _execute("DROP SCHEMA simulation CASCADE")
        # The next connection has the time of day again.
        connection.close()


def _install_strftime(clock: VirtualClock) -> None:
    def strftime(wanted: str, instant: str) -> str:
        assert (wanted, instant) == ("%Y-%m-%d %H:%M:%f000", "NOW")
        return f"{clock.now:%Y-%m-%d %H:%M:%S}.{clock.now.microsecond // 1000:03d}000"

    connection.ensure_connection()
    connection.connection.create_function("STRFTIME", 2, strftime)


def _execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)
