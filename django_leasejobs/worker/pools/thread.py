"""Job code in threads of the worker: for I/O-bound work, and where processes can't be used."""

from __future__ import annotations

import ctypes
import logging
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connections

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.finish import Report
from django_leasejobs.engine.outcomes import HandedBack
from django_leasejobs.worker.child_settings import Limits
from django_leasejobs.worker.execute import Channel, TimedOut, execute
from django_leasejobs.worker.ticks import ticks

from .base import PoolEvents

logger = logging.getLogger("django_leasejobs")


@dataclass(slots=True)
class Running:
    """A run in a thread; ``began`` is None while it waits for one."""

    channel: Channel
    thread: int | None = None
    began: float | None = None
    timed_out: bool = False
    abandoned: bool = False

    @property
    def overdue_at(self) -> float | None:
        timeout = self.channel.run.timeout
        return None if self.began is None or timeout is None else self.began + timeout.total_seconds()


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
        self._waiting: queue.SimpleQueue[Running | None] = queue.SimpleQueue()
        self._running: dict[int, Running] = {}
        self._lock = threading.Lock()
        self._changed = threading.Event()

    def start(self) -> None:
        for number in range(self._size):
            threading.Thread(target=self._work, name=f"leasejobs-job-{number}", daemon=True).start()

    def free(self) -> int:
        return self._size - len(self._running)

    def busy(self) -> int:
        return len(self._running)

    def submit(self, runs: Sequence[Claimed]) -> None:
        for run in runs:
            running = Running(Channel(run, self._events.progress))
            with self._lock:
                self._running[run.token] = running
            self._waiting.put(running)

    def cancel(self, token: int, reason: str) -> None:
        running = self._running.get(token)
        if running is not None:
            running.channel.cancel_reason = reason
            running.channel.cancelled = True

    def abandon(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            running = self._running.get(token)
            if running is not None:
                running.abandoned = True
                running.channel.lease_lost = True

    def watch(self, timeout: float) -> None:
        now = ticks()
        for running in list(self._running.values()):
            if running.overdue_at is not None and running.overdue_at <= now and not running.timed_out:
                running.timed_out = True
                self._throw(running)
        self._changed.wait(min(timeout, 0.1) if self._running else timeout)
        self._changed.clear()

    def hand_back_waiting(self) -> None:
        while True:
            try:
                running = self._waiting.get_nowait()
            except queue.Empty:
                return
            if running is not None:
                self._end(running, Report(run=running.channel.run, ending=HandedBack("its worker is stopping")))

    def stop(self, reason: str) -> None:
        self.hand_back_waiting()
        for running in list(self._running.values()):
            running.channel.lease_lost = True
            self._end(running, Report(run=running.channel.run, ending=HandedBack(reason)))
        for _ in range(self._size):
            self._waiting.put(None)

    def _work(self) -> None:
        try:
            while (running := self._waiting.get()) is not None:
                if not running.abandoned:
                    self._run_one(running)
                self._forget(running)
        finally:
            connections.close_all()

    def _run_one(self, running: Running) -> None:
        run = running.channel.run
        running.thread, running.began = threading.get_ident(), ticks()
        try:
            done = execute(run, running.channel, worker_name=self._worker_name, limits=self._limits)
        except TimedOut:
            # Thrown in when the job had just ended: its own report is as good as lost.
            done = None
        if done is None or running.abandoned:
            return
        report = Report(run=run, ending=done.ending, log=done.log)
        self._end(running, report, committed=done.committed)

    def _end(self, running: Running, report: Report, *, committed: bool = False) -> None:
        """Report once; whoever takes the run out of the table does it."""
        with self._lock:
            known = self._running.pop(report.run.token, None)
        if known is running:
            (self._events.committed if committed else self._events.ended)(report)
            self._changed.set()

    def _forget(self, running: Running) -> None:
        with self._lock:
            left = self._running.pop(running.channel.run.token, None)
        self._changed.set()
        if left is not None:
            self._events.room()

    def _throw(self, running: Running) -> None:
        logger.warning("Run id=%s is over its timeout, ending it", running.channel.run.run_id)
        if running.thread is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(running.thread), ctypes.py_object(TimedOut))
