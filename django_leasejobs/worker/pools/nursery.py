"""Starts the child processes of a pool, more slowly while new ones don't come to life."""

from __future__ import annotations

import logging
import multiprocessing
from multiprocessing.context import BaseContext

from django_leasejobs.worker.child_settings import ChildSettings
from django_leasejobs.worker.ticks import ticks

from .handle import ChildHandle

logger = logging.getLogger("django_leasejobs")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 15.0
PRELOAD = "django_leasejobs.worker.preload"


def process_context() -> BaseContext:
    """Return how children are made: forked from a clean server process that has loaded the project, else spawned.

    Forking the worker itself would copy its threads' locks and its database connections.
    """
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([PRELOAD])
        return context
    return multiprocessing.get_context("spawn")


class Nursery:
    """Makes children; ``next_start`` is the tick before which none is made."""

    def __init__(self, settings: ChildSettings) -> None:
        self._settings = settings
        self._context = process_context()
        self._failed = 0
        self.next_start = 0.0

    def start(self) -> ChildHandle | None:
        """Start a child unless it is too early for one, or it can't be started."""
        if ticks() < self.next_start:
            return None
        try:
            return ChildHandle.start(self._context, self._settings)
        except (OSError, EOFError) as error:
            # No memory, no file handles, or the fork server was killed: the next try starts a new one.
            self.failed(f"could not be started ({error!r})")
            return None

    def succeeded(self) -> None:
        """Note that a child has come to life."""
        self._failed = 0

    def failed(self, what_happened: str) -> None:
        """Note that a child has not, and wait longer each time."""
        self._failed += 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self._failed, 10))
        self.next_start = ticks() + pause
        logger.error("A child process %s, next one in %.1f s", what_happened, pause)
