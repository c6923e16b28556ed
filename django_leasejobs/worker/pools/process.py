"""Job code in child processes: the default pool. A hung or dying job can't take the worker or another job along."""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.connection
import os
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.finish import Report
from django_leasejobs.engine.outcomes import Died, Ending, HandedBack, Raised, Stopped
from django_leasejobs.worker.child_settings import ChildSettings
from django_leasejobs.worker.ticks import ticks

from .base import PoolEvents
from .handle import Assigned, ChildHandle
from .messages import Ended, GaveBack, Progress, Ready
from .nursery import Nursery
from .pace import STALLED_AFTER, Pace

logger = logging.getLogger("django_leasejobs")

CANCEL_GRACE = 5.0


class ProcessPool:
    """A fixed number of child processes, replaced when they die.

    Runs are handed to children and reported from ``watch``, which the worker's main thread calls; other threads
    only submit, cancel and abandon.
    """

    def __init__(self, size: int, *, settings: ChildSettings, events: PoolEvents) -> None:
        self._size = size
        self._events = events
        self._nursery = Nursery(settings)
        self._lock = threading.RLock()
        self._children: list[ChildHandle] = []
        self._backlog: deque[Assigned] = deque()
        self._pace = Pace()
        self._stopping = False
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_writer, False)
        os.set_blocking(self._wake_reader, False)

    def start(self) -> None:
        self._fill_up()

    def free(self) -> int:
        with self._lock:
            capacity = self._pace.capacity()
            room = sum(child.room(capacity) for child in self._children)
            return max(0, room - len(self._backlog))

    def busy(self) -> int:
        with self._lock:
            return len(self._backlog) + sum(len(child.assigned) for child in self._children)

    def submit(self, runs: Sequence[Claimed]) -> None:
        with self._lock:
            self._backlog.extend(Assigned(run) for run in runs)
            self._hand_over()

    def cancel(self, token: int, reason: str) -> None:
        with self._lock:
            for child in self._children:
                for assigned in child.assigned:
                    if assigned.run.token == token and assigned.kill_at is None:
                        assigned.cancel_reason, assigned.kill_at = reason, ticks() + CANCEL_GRACE
                        child.tell_cancel(token, reason)
        self._wake()

    def abandon(self, tokens: Sequence[int]) -> None:
        gone = set(tokens)
        with self._lock:
            self._backlog = deque(item for item in self._backlog if item.run.token not in gone)
            for child in self._children:
                lost = [item for item in child.assigned if item.run.token in gone]
                for item in lost:
                    item.abandoned = True
                if lost:
                    child.kill(lost[0].run.token)
        self._wake()

    def watch(self, timeout: float) -> None:
        self._enforce_deadlines()
        self._fill_up()
        ready = set(multiprocessing.connection.wait(self._waitables(), self._bounded(timeout)))
        if self._wake_reader in ready:
            os.read(self._wake_reader, 4096)
        with self._lock:
            for child in list(self._children):
                if child.pipe in ready:
                    child.read_all(self._hear)
                if child.process.sentinel in ready:
                    self._bury(child)
            self._hand_over()

    def hand_back_waiting(self) -> None:
        with self._lock:
            self._stopping = True
            for assigned in self._backlog:
                self._report(assigned, HandedBack("its worker is stopping"))
            self._backlog.clear()
            for child in self._children:
                if len(child.assigned) > 1:
                    child.recall()
        self._wake()

    def stop(self, reason: str) -> None:
        self.hand_back_waiting()
        with self._lock:
            for child in self._children:
                child.kill(None)
            for child in list(self._children):
                child.process.join(5)
                child.read_all(self._hear)
                for assigned in child.assigned:
                    self._report(assigned, HandedBack(reason))
                child.pipe.close()
            self._children.clear()

    def _fill_up(self) -> None:
        """Replace dead children."""
        while not self._stopping and len(self._children) < self._size:
            child = self._nursery.start()
            if child is None:
                return
            with self._lock:
                self._children.append(child)

    def _waitables(self) -> list[Any]:
        with self._lock:
            pipes = [child.pipe for child in self._children]
            sentinels = [child.process.sentinel for child in self._children]
        return [self._wake_reader, *pipes, *sentinels]

    def _bounded(self, timeout: float) -> float:
        """Shorten a wait to the next deadline of a run."""
        with self._lock:
            deadlines = [when for child in self._children if (when := child.next_deadline(STALLED_AFTER)) is not None]
            if self._backlog:
                deadlines.append(self._backlog[0].since + STALLED_AFTER)
        if len(self._children) < self._size and not self._stopping:
            deadlines.append(self._nursery.next_start)
        return max(0.0, min([timeout, *(when - ticks() for when in deadlines)]))

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # raised when a wake-up is under way already
            os.write(self._wake_writer, b"x")

    def _hand_over(self) -> None:
        """Give waiting runs to the children with the most room."""
        batches: dict[ChildHandle, list[Claimed]] = {}
        while self._backlog:
            # What a busy child can't read yet must fit its pipe, or this process would wait for it.
            capacity = self._pace.capacity() if self._backlog[0].is_light else 1
            child = max(self._children, key=lambda item: item.room(capacity), default=None)
            if child is None or child.room(capacity) == 0:
                break
            assigned = self._backlog.popleft()
            child.assign(assigned)
            batches.setdefault(child, []).append(assigned.run)
        for child, runs in batches.items():
            child.send_runs(runs)

    def _hear(self, child: ChildHandle, message: object) -> None:
        match message:
            case Ready():
                child.ready = True
                self._nursery.succeeded()
                self._events.room()
            case Ended(token=token, ending=ending, log=log, committed=committed, seconds=seconds):
                self._pace.note(seconds)
                assigned = child.take(token)
                if assigned is not None and not assigned.abandoned:
                    self._report(assigned, ending, log, committed=committed)
            case GaveBack(tokens=tokens):
                child.recalled = False
                self._events.room()
                returned = [item for token in tokens if (item := child.take(token)) is not None]
                self._take_back([item for item in returned if not item.abandoned])
            case Progress(token=token, value=value):
                self._events.progress(token, value)

    def _take_back(self, returned: Sequence[Assigned]) -> None:
        if not self._stopping:
            now = ticks()
            for assigned in reversed(returned):
                assigned.since = now
                self._backlog.appendleft(assigned)
            return
        for assigned in returned:
            self._report(assigned, HandedBack("its worker is stopping"))

    def _enforce_deadlines(self) -> None:
        """Kill what is over its time, and take back what waits behind a long run."""
        now = ticks()
        with self._lock:
            while self._backlog and self._backlog[0].since + STALLED_AFTER <= now:
                # No child had room for it: another worker may.
                self._report(self._backlog.popleft(), HandedBack("it waited behind long runs"))
            for child in self._children:
                current = child.current
                if current is None or child.killed:
                    continue
                if current.overdue(now):
                    current.forced = Raised(
                        f"the attempt took longer than its timeout of {current.timeout:g} s", timed_out=True
                    )
                    child.kill(current.run.token)
                elif current.kill_at is not None and current.kill_at <= now:
                    current.forced = Stopped(current.cancel_reason)
                    child.kill(current.run.token)
                elif current.began is not None and now - current.began > STALLED_AFTER and len(child.assigned) > 1:
                    self._pace.reset()
                    child.recall()

    def _bury(self, child: ChildHandle) -> None:
        """Deal with the runs of a child that died; the first of them is the one that it was doing."""
        child.process.join()
        child.read_all(self._hear)
        child.pipe.close()
        self._children.remove(child)
        if not child.ready:
            self._nursery.failed(f"ended before it was ready ({child.exit_words})")
        assigned = list(child.assigned)
        if assigned and not assigned[0].abandoned:
            self._report(assigned[0], _ending_of(child, assigned[0]))
        self._take_back([item for item in assigned[1:] if not item.abandoned])

    def _report(self, assigned: Assigned, ending: Ending, log: str = "", *, committed: bool = False) -> None:
        report = Report(run=assigned.run, ending=ending, log=log)
        (self._events.committed if committed else self._events.ended)(report)


def _ending_of(child: ChildHandle, current: Assigned) -> Ending:
    if current.forced is not None:
        return current.forced
    if child.killed and child.killed_for != current.run.token:
        return HandedBack("its process was ended because of another run")
    return Died(f"its process died: {child.exit_words}")
