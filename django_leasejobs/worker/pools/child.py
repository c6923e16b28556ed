"""What runs inside a child process of the pool: it takes runs from its pipe and answers there."""

from __future__ import annotations

import os
import threading
from collections import deque
from multiprocessing.connection import Connection
from typing import Any

from django.db import connections

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.worker.child_settings import ChildSettings
from django_leasejobs.worker.connections import watch_sessions
from django_leasejobs.worker.execute import Channel, execute
from django_leasejobs.worker.run_log import install_run_log
from django_leasejobs.worker.ticks import ticks

from .messages import Cancel, Ended, GaveBack, GiveBack, Progress, Ready, Take

PROGRESS_EVERY = 0.5


def serve(pipe: Connection, settings: ChildSettings) -> None:
    """Do runs until the pipe closes, which means that the worker is gone; then end at once."""
    connections.close_all()
    watch_sessions()
    install_run_log()
    Child(pipe, settings).serve()


class Child:
    """The child's side of the pipe. A thread listens, so that a word about the current run gets through."""

    def __init__(self, pipe: Connection, settings: ChildSettings) -> None:
        self._pipe = pipe
        self._settings = settings
        self._waiting: deque[Claimed] = deque()
        self._arrived = threading.Semaphore(0)
        self._sending = threading.Lock()
        self._pid = os.getpid()
        self._channel: Channel | None = None
        self._cancelled: dict[int, str] = {}
        self._next_progress = 0.0

    def serve(self) -> None:
        self._send(Ready())
        threading.Thread(target=self._listen, name="leasejobs-pipe", daemon=True).start()
        while True:
            self._arrived.acquire()
            try:
                run = self._waiting.popleft()
            except IndexError:
                continue  # it was given back
            self._do(run)

    def _do(self, run: Claimed) -> None:
        began = ticks()
        self._channel = Channel(run, self._progress)
        if (reason := self._cancelled.pop(run.token, None)) is not None:
            self._channel.cancelled, self._channel.cancel_reason = True, reason
        done = execute(run, self._channel, worker_name=self._settings.worker_name, limits=self._settings.limits)
        if os.getpid() != self._pid:
            os._exit(0)  # a copy that the job forked and let return: it would speak in this child's name and stay
        self._channel = None
        self._send(Ended(run.token, done.ending, done.log, done.committed, ticks() - began))

    def _listen(self) -> None:
        try:
            while True:
                self._hear(self._pipe.recv())
        except (EOFError, OSError):
            # The worker died: its leases will be taken over, so nothing here may go on.
            os._exit(1)

    def _hear(self, message: Any) -> None:
        match message:
            case Take(runs=runs):
                self._waiting.extend(runs)
                self._arrived.release(len(runs))
            case Cancel(token=token, reason=reason):
                channel = self._channel
                if channel is not None and channel.run.token == token:
                    channel.cancel_reason, channel.cancelled = reason, True
                else:
                    self._cancelled[token] = reason
            case GiveBack():
                self._send(GaveBack(tuple(run.token for run in self._take_all())))

    def _take_all(self) -> list[Claimed]:
        taken = []
        while True:
            try:
                taken.append(self._waiting.popleft())
            except IndexError:
                return taken

    def _progress(self, token: int, value: Any) -> None:
        now = ticks()
        if now >= self._next_progress or value["done"] == value["total"]:
            self._next_progress = now + PROGRESS_EVERY
            self._send(Progress(token, value))

    def _send(self, message: object) -> None:
        with self._sending:
            self._pipe.send(message)
