"""Keeps this worker's leases and its heartbeat: its own thread and connection, first to start, last to stop."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta

from django_leasejobs.engine.finish import recorded_successes
from django_leasejobs.engine.register import WorkerIdentity, beat, register_worker
from django_leasejobs.engine.renew import renew_leases

from .book import LeaseBook
from .ticks import ticks

SHORTEST_TIMEOUT = 0.5
LONGEST_TIMEOUT = 10.0


class Renewer:
    """Renew all leases of this worker together whenever the first of them has used a third of its term."""

    def __init__(
        self,
        identity: WorkerIdentity,
        book: LeaseBook,
        *,
        on_lost: Callable[[Sequence[int]], None],
        on_cancel: Callable[[Mapping[int, str]], None],
        on_registered: Callable[[int], None],
    ) -> None:
        self._identity = identity
        self._book = book
        self._on_lost = on_lost
        self._on_cancel = on_cancel
        self._on_registered = on_registered
        self._next_beat = 0.0
        self.worker_id: int | None = None
        self.stopping = False
        self.clock_offset: timedelta | None = None
        self.look_now = False
        self.next_look = 0.0

    def step(self) -> float:
        """Renew if it is time (or a cancel was announced), beat if it is time; return how long to wait."""
        due = self._book.next_renewal()
        if due is not None and (due <= ticks() or self.look_now):
            self.look_now = False
            self._renew()
        if self._next_beat <= ticks():
            self._beat()
        return self._wait()

    def _renew(self) -> None:
        started = ticks()
        renewed = renew_leases(self._book.tokens(), timeout=self._timeout(started))
        self._book.renewed(renewed.held, started)
        if lost := self._taken_over(renewed.lost):
            self._on_lost(sorted(lost))
        if renewed.cancelled:
            self._on_cancel(renewed.cancelled)

    def _taken_over(self, gone: Collection[int]) -> Collection[int]:
        """Leave out the leases that ended with an atomic job's own success, of which its pool will tell in a moment."""
        run_ids = {token: run.run_id for token in gone if (run := self._book.get(token)) is not None}
        return run_ids.keys() - recorded_successes(run_ids) if run_ids else ()

    def _timeout(self, now: float) -> float:
        """Bound the statement so that another try fits in before the first lease stops being trusted."""
        distrust = self._book.next_distrust()
        left = LONGEST_TIMEOUT if distrust is None else (distrust - now) / 2
        return min(LONGEST_TIMEOUT, max(SHORTEST_TIMEOUT, left))

    def _beat(self) -> None:
        every = self._identity.heartbeat_every.total_seconds()
        # As short as a renewal: the leases must not wait for a lock on the worker's row.
        timeout = self._timeout(ticks())
        if self.worker_id is None or not beat(
            self.worker_id, clock_offset=self.clock_offset, stopping=self.stopping, timeout=timeout
        ):
            # Its row was deleted, by a person or for a silence that is over.
            self.worker_id = register_worker(self._identity)
            self._on_registered(self.worker_id)
        self._next_beat = ticks() + every

    def _wait(self) -> float:
        self.next_look = self._next_beat
        # Asked only after ``next_look`` is set: a claim made meanwhile is either seen here or wakes the loop.
        due = self._book.next_renewal()
        if due is not None:
            self.next_look = min(due, self._next_beat)
        return max(0.0, self.next_look - ticks())
