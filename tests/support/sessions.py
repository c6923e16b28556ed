"""A second session for races: a thread with a connection of its own, which can be seen waiting and be held."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db import connection, connections

from .processes import wait_until

T = TypeVar("T")
PATIENCE = 20.0
LOOK_EVERY = 0.05


class Side(Generic[T]):
    """Runs ``act`` in a thread. ``hold_at`` stops it before its first statement that contains this text.

    ``isolation`` sets the level of the session, where the database lets one.
    """

    def __init__(self, act: Callable[[], T], *, hold_at: str | None = None, isolation: str | None = None) -> None:
        self._act = act
        self._hold_at = hold_at
        self._isolation = isolation
        self._started = threading.Event()
        self._reached = threading.Event()
        self._released = threading.Event()
        self._session: int | None = None
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._started.wait(PATIENCE)
        if hold_at is not None:
            wait_until(lambda: self._reached.is_set() or self.finished, PATIENCE)
            assert self._reached.is_set(), f"never came to a statement with {hold_at!r}: {self._error!r}"

    @property
    def finished(self) -> bool:
        return not self._thread.is_alive()

    def settle(self) -> bool:
        """Wait until it has either ended or waits for a lock of another session; return whether it has ended.

        SQLite tells nobody who waits: there it has begun, and what follows must be right either way.
        """
        if connection.features.has_select_for_update:
            wait_until(lambda: self.finished or self._is_blocked(), PATIENCE, every=LOOK_EVERY)
        return self.finished

    def release(self) -> None:
        """Let it go on from where it was held."""
        self._released.set()

    def result(self) -> T:
        """Wait for the end; return what the act returned, or raise what it raised."""
        self._released.set()
        self._thread.join(PATIENCE)
        assert self.finished, "still waiting"
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[no-any-return]

    def _run(self) -> None:
        try:
            self._open()
            self._started.set()
            with connection.execute_wrapper(self._hold):
                self._result = self._act()
        except BaseException as error:  # noqa: BLE001
            self._error = error
        finally:
            self._started.set()
            connections.close_all()

    def _open(self) -> None:
        connection.ensure_connection()
        raw: Any = connection.connection
        if connection.vendor == "postgresql":
            self._session = raw.info.backend_pid
        elif connection.vendor == "mysql":
            self._session = raw.thread_id()
        if self._isolation is not None:
            isolate(self._isolation)

    def _hold(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if self._hold_at is not None and not self._reached.is_set() and self._hold_at in sql:
            self._reached.set()
            assert self._released.wait(PATIENCE)
        return execute(sql, params, many, context)

    def _is_blocked(self) -> bool:
        if connection.vendor == "mysql":
            return "LOCK WAIT" in innodb_transactions().get(self._session, "")
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'", [self._session]
            )
            return cursor.fetchone() is not None


def innodb_transactions() -> dict[int, str]:
    """Return what MariaDB says of each open transaction, by the id of its session.

    Out of the monitor's text: the table innodb_trx is a copy that grows stale while several sessions read it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SHOW ENGINE INNODB STATUS")
        text = cursor.fetchone()[2]
    found = {}
    for words in text.split("---TRANSACTION ")[1:]:
        if session := re.search(r"thread id (\d+),", words):
            found[int(session[1])] = words
    return found


def skips_locked() -> bool:
    """Tell whether this database locks rows, and passes by those of another session when told to."""
    return bool(connection.features.has_select_for_update_skip_locked)


def isolate(level: str) -> None:
    """Set the isolation level of this thread's session until it is closed; SQLite has but one."""
    statement = {
        "postgresql": f"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}",
        "mysql": f"SET SESSION TRANSACTION ISOLATION LEVEL {level}",
    }.get(connection.vendor)
    if statement is not None:
        with connection.cursor() as cursor:
            cursor.execute(statement)
