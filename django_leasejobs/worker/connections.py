"""Clean database connections for job code."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.db import close_old_connections, connections, reset_queries
from django.db.backends.signals import connection_created

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

# What outlives a transaction and would reach the next job on the same connection.
SESSION_STATEMENT = re.compile(
    r"^\s*(SET\s+(?!LOCAL\b)|RESET|PRAGMA|LISTEN|CREATE\s+(LOCAL\s+|GLOBAL\s+)?TEMP|PREPARE|DECLARE|LOCK|ATTACH)"
    r"|set_config|pg_advisory_lock|GET_LOCK",
    re.IGNORECASE,
)


class SessionWatch:
    """Notices on one connection that a job changed its session."""

    def __init__(self) -> None:
        self.changed = False

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if not self.changed and SESSION_STATEMENT.search(sql):
            self.changed = True
        return execute(sql, params, many, context)


def watch_sessions() -> None:
    """Watch every connection that this process opens from now on."""
    connection_created.connect(_watch, dispatch_uid="leasejobs-session-watch")


def _watch(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
    wrappers = connection.execute_wrappers
    wrappers[:] = [wrapper for wrapper in wrappers if not isinstance(wrapper, SessionWatch)]
    wrappers.append(SessionWatch())


def before_run() -> None:
    """Drop connections that are past their age or broke since; one round trip for each that is kept."""
    # With DEBUG each connection keeps its last 9,000 statements, whole logs and results among them.
    reset_queries()
    close_old_connections()
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None and not connection.is_usable():
            _discard(connection)


def after_run() -> None:
    """Close each connection of this thread that the job did not leave as it found it."""
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None and not _is_clean(connection):
            _discard(connection)
    close_old_connections()


def _is_clean(connection: BaseDatabaseWrapper) -> bool:
    changed = any(isinstance(item, SessionWatch) and item.changed for item in connection.execute_wrappers)
    return not (
        changed
        or connection.in_atomic_block
        or connection.needs_rollback
        or connection.errors_occurred
        or connection.get_autocommit() != connection.settings_dict["AUTOCOMMIT"]
    )


def _discard(connection: BaseDatabaseWrapper) -> None:
    """Close for good, whatever transaction the wrapper believes to be in."""
    connection.in_atomic_block = False
    connection.savepoint_ids = []
    connection.needs_rollback = False
    connection.closed_in_transaction = False
    try:
        connection.close()
    except Exception:  # noqa: BLE001  (it is broken: forgetting it is all that is left)
        connection.connection = None
