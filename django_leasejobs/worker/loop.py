"""The one loop of all services: step, wait or be woken, back off after a database fault, stop."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable

from django.db import connections, reset_queries

from django_leasejobs import vendor
from django_leasejobs.texts import one_line

from .ticks import ticks

logger = logging.getLogger("django_leasejobs")

FIRST_BACKOFF = 0.2
LONGEST_BACKOFF = 5.0


class Loop:
    """A thread that calls ``step`` until it is stopped.

    ``step`` returns the seconds to wait until the next one; 0 looks again at once, ``wake()`` cuts the wait short.
    A database fault makes the loop close its connections and wait longer each time, with jitter; the first step that
    succeeds again is told too. Any other exception is a defect: it is logged whole and treated alike, since a loop
    that is gone would look alive.
    """

    def __init__(self, name: str, step: Callable[[], float]) -> None:
        self.name = name
        self._step = step
        self._faults = 0
        self._database_gone: float | None = None
        self._began: float | None = None
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"leasejobs-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Let the next step happen now."""
        self._woken.set()

    def stop(self) -> None:
        """Ask the loop to end after the step it is in."""
        self._stopping.set()
        self._woken.set()

    @property
    def busy_for(self) -> float:
        """How many seconds the step under way has taken; 0 between steps."""
        began = self._began
        return 0.0 if began is None else ticks() - began

    def join(self, timeout: float) -> bool:
        """Wait for the end; return False when the thread is still there (a statement that hangs)."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self._woken.wait(self._guarded_step())
                self._woken.clear()
        finally:
            connections.close_all()

    def _guarded_step(self) -> float:
        self._woken.clear()
        self._began = ticks()
        # No request ends here, after which Django would forget the statements that it keeps with DEBUG.
        reset_queries()
        try:
            wait = self._step()
        except Exception as error:  # noqa: BLE001
            return self._after_fault(error)
        finally:
            self._began = None
        self._faults = 0
        if self._database_gone is not None:
            logger.info("Loop %s has the database back after %.1f s", self.name, ticks() - self._database_gone)
            self._database_gone = None
        return wait

    def _after_fault(self, error: Exception) -> float:
        self._faults += 1
        if vendor.is_database_fault(error):
            wait = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2.0 ** min(self._faults, 10)) * random.uniform(0.5, 1.0)  # noqa: S311
            logger.warning("Loop %s met a database fault, next try in %.1f s: %s", self.name, wait, one_line(error))
            if self._database_gone is None:
                self._database_gone = ticks()
        else:
            wait = LONGEST_BACKOFF
            logger.error("Loop %s met a defect, next try in %.1f s", self.name, wait, exc_info=error)
        connections.close_all()
        return wait
