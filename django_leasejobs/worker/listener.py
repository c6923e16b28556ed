"""Wakes the worker by PostgreSQL's NOTIFY. Only faster, never needed: polling finds the same."""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import Any

from django.db import connections

from django_leasejobs import vendor
from django_leasejobs.engine.transactions import alias

LISTEN_SLICE = 5.0


class Listener:
    """Listens on a connection of its own; many notifications in a moment wake once."""

    def __init__(self, *, on_work: Callable[[], None], on_cancel: Callable[[], None]) -> None:
        self._on_work = on_work
        self._on_cancel = on_cancel
        self._listening: Any = None

    def step(self) -> float:
        """Listen for a slice of time; return 0 to go on at once."""
        connection = connections[alias()]
        connection.ensure_connection()
        driver: Any = connection.connection
        if self._listening is not driver:
            with connection.cursor() as cursor:
                cursor.execute(f"LISTEN {vendor.CHANNEL}")
            self._listening = driver
            # What was announced before is found by a look.
            self._on_work()
            self._on_cancel()
        with connection.wrap_database_errors:
            if select.select([driver.fileno()], [], [], LISTEN_SLICE)[0]:
                self._hear({word for note in driver.notifies(timeout=0) for word in note.payload.split()})
        return 0.0

    def _hear(self, words: set[str]) -> None:
        if vendor.WAKE_CANCEL in words:
            self._on_cancel()
        if words - {vendor.WAKE_CANCEL}:
            self._on_work()
