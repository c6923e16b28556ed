"""Job code in threads of the worker: for I/O-bound work, and where processes can't be used."""

from __future__ import annotations

import ctypes
import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connections

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.finish import Report
from django_leasejobs.engine.outcomes import HandedBack, Raised
from django_leasejobs.worker.child_settings import Limits
from django_leasejobs.worker.connections import watch_sessions
from django_leasejobs.worker.execute import Channel, Executed, TimedOut, execute
from django_leasejobs.worker.run_log import install_run_log
from django_leasejobs.worker.ticks import ticks

from .base import PoolEvents
from .pace import STALLED_AFTER, Pace

BREAK_OFF_GRACE = 1.0

logger = logging.getLogger("django_leasejobs")


@dataclass(slots=True, eq=False)
class Running:
    """A run of the pool; ``since`` when it waits for a thread, ``began`` the tick from which one does it."""

    channel: Channel
    since: float
    thread: int = 0
    began: float | None = None
    timed_out: bool = False
    abandoned: bool = False

    @property
    def token(self) -> int:
        return self.channel.run.token

    @property
    def overdue_at(self) -> float | None:
        timeout = self.channel.run.timeout
        return None if self.began is None or timeout is None or self.timed_out else self.began + timeout.total_seconds()


class ThreadPool:
    """A fixed number of threads.

    A thread can't be killed: a run over its timeout gets an exception thrown in, which takes effect when its
    Python code next runs; one that blocks in C is only ended then, and its slot is taken until then.
    """

    def __init__(self, size: int, *, worker_name: str, limits: Limits, events: PoolEvents) -> None:
        self._size = size
        self._worker_name = worker_name
        self._limits = limits
        self._events = events
        self._pace = Pace()
        self._lock = threading.Lock()
        self._runs: dict[int, Running] = {}
        self._waiting: deque[Running] = deque()
        self._arrived = threading.Semaphore(0)
        self._doing: set[Running] = set()
        self._stopping = False
        self._changed = threading.Event()

    def start(self) -> None:
        watch_sessions()
        install_run_log()
        for number in range(self._size):
            threading.Thread(target=self._work, name=f"leasejobs-job-{number}", daemon=True).start()

    def free(self) -> int:
        return max(0, self._size * self._pace.capacity() - len(self._runs))

    def busy(self) -> int:
        return len(self._runs)

    def submit(self, runs: Sequence[Claimed]) -> None:
        now = ticks()
        taken = [Running(Channel(run, self._events.progress), now) for run in runs]
        with self._lock:
            self._runs.update((running.token, running) for running in taken)
            self._waiting.extend(taken)
        self._arrived.release(len(taken))
        self._changed.set()

    def cancel(self, token: int, reason: str) -> None:
        running = self._runs.get(token)
        if running is not None:
            running.channel.cancel_reason = reason
            running.channel.cancelled = True

    def abandon(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            running = self._runs.get(token)
            if running is not None:
                running.abandoned = True
                running.channel.lease_lost = True

    def watch(self, timeout: float) -> None:
        now = ticks()
        with self._lock:
            overdue = [item for item in self._doing if item.overdue_at is not None and item.overdue_at <= now]
            for running in overdue:
                _throw_timed_out(running)
            stalled = bool(self._waiting) and self._waiting[0].since + STALLED_AFTER <= now
        for running in overdue:
            logger.warning("Run id=%s is over its timeout, ending it", running.channel.run.run_id)
        if stalled:
            self._pace.reset()
            self._hand_back("it waited behind long runs")
        self._changed.wait(self._bounded(timeout))
        self._changed.clear()

    def hand_back_waiting(self) -> None:
        self._hand_back("its worker is stopping")

    def stop(self, reason: str) -> None:
        self.hand_back_waiting()
        with self._lock:
            left = list(self._runs.values())
            self._runs.clear()
            for running in self._doing:
                running.abandoned = running.channel.lease_lost = True
                _throw_timed_out(running)
        # Another worker may begin them as soon as they are handed back; code that blocks in C is only ended with
        # this process, in a moment.
        patience = ticks() + BREAK_OFF_GRACE
        while self._doing and ticks() < patience:
            time.sleep(0.01)
        for running in left:
            self._events.ended(Report(run=running.channel.run, ending=HandedBack(reason)))
        self._stopping = True
        self._arrived.release(self._size)

    def _bounded(self, timeout: float) -> float:
        """Shorten a wait to the next moment at which a run needs a look."""
        with self._lock:
            moments = [item.overdue_at for item in self._doing if item.overdue_at is not None]
            if self._waiting:
                moments.append(self._waiting[0].since + STALLED_AFTER)
        return max(0.0, min([timeout, *(moment - ticks() for moment in moments)]))

    def _hand_back(self, reason: str) -> None:
        """Report what no thread has taken."""
        with self._lock:
            waiting = list(self._waiting)
            self._waiting.clear()
        for running in waiting:
            self._end(running, Report(run=running.channel.run, ending=HandedBack(reason)))

    def _work(self) -> None:
        try:
            while True:
                self._arrived.acquire()
                if self._stopping:
                    return
                if (running := self._begin()) is not None:
                    self._do(running)
                    self._forget(running)
        finally:
            connections.close_all()

    def _begin(self) -> Running | None:
        """Take the next run; None when it was handed back meanwhile."""
        with self._lock:
            if not self._waiting:
                return None
            running = self._waiting.popleft()
            running.thread, running.began = threading.get_ident(), ticks()
            self._doing.add(running)
        if running.channel.run.timeout is not None:
            self._changed.set()
        return running

    def _do(self, running: Running) -> None:
        run = running.channel.run
        if running.abandoned:
            return
        try:
            done = execute(run, running.channel, worker_name=self._worker_name, limits=self._limits)
            with self._lock:
                # From here on nothing is thrown into this thread.
                self._doing.discard(running)
        except TimedOut:
            done = Executed(Raised("the attempt took longer than its timeout", timed_out=True))
        assert running.began is not None
        self._pace.note(ticks() - running.began)
        if not running.abandoned:
            self._end(running, Report(run=run, ending=done.ending, log=done.log), committed=done.committed)

    def _end(self, running: Running, report: Report, *, committed: bool = False) -> None:
        """Report once; whoever takes the run out of the table does it."""
        with self._lock:
            known = self._runs.pop(running.token, None)
        if known is running:
            (self._events.committed if committed else self._events.ended)(report)

    def _forget(self, running: Running) -> None:
        """Make room where a run ended without a report: abandoned, or stopped in the very last moment."""
        with self._lock:
            self._doing.discard(running)
            left = self._runs.pop(running.token, None)
        if left is not None:
            self._events.room()


def _throw_timed_out(running: Running) -> None:
    """Throw TimedOut into the thread that does the run; the caller holds the pool's lock and knows that it does."""
    running.timed_out = True
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(running.thread), ctypes.py_object(TimedOut))
