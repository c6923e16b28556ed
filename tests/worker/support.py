"""Claims as values, and pools and loops that only note what they are told."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.worker.child_settings import Limits
from django_leasejobs.worker.options import WorkerOptions

_tokens = itertools.count(1)
LIMITS = Limits(result=1000, log=1000)


def claimed(**values: Any) -> Claimed:
    """Build a claim of a run that nobody stored."""
    token = next(_tokens)
    instant = datetime(2026, 11, 30, tzinfo=UTC)
    values = {
        "token": token,
        "run_id": token,
        "job_id": None,
        "job_name": "",
        "task": "tests.noop",
        "args": [],
        "kwargs": {},
        "state": None,
        "origin": "task",
        "queue": "default",
        "scheduled_for": None,
        "available_at": instant,
        "claimed_at": instant,
        "lease": timedelta(seconds=60),
        "timeout": None,
        "retries": 0,
        "backoff": timedelta(0),
        "max_lost": 0,
        "failures": 0,
        "lost": 0,
        **values,
    }
    return Claimed(**values)


def options(**values: Any) -> WorkerOptions:
    values = {
        "queues": (),
        "concurrency": 2,
        "pool": "thread",
        "poll_interval": 5.0,
        "name": "tester",
        "shutdown_timeout": 1.0,
        "limits": LIMITS,
        **values,
    }
    return WorkerOptions(**values)


class NotingPool:
    """Takes what it is given and says nothing of its own accord."""

    def __init__(self, room: int = 2) -> None:
        self.room = room
        self.taken: list[Claimed] = []
        self.abandoned: list[int] = []
        self.cancelled: dict[int, str] = {}

    def free(self) -> int:
        return self.room - len(self.taken)

    def busy(self) -> int:
        return len(self.taken)

    def submit(self, runs: Any) -> None:
        self.taken += runs

    def abandon(self, tokens: Any) -> None:
        self.abandoned += tokens

    def cancel(self, token: int, reason: str) -> None:
        self.cancelled[token] = reason


class Signals:
    """Notes what a signal sent while it listens."""

    def __init__(self, signal: Any) -> None:
        self.signal = signal
        self.sent: list[dict[str, Any]] = []

    def __enter__(self) -> Signals:
        self.signal.connect(self._note, weak=False)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.signal.disconnect(self._note)

    def _note(self, sender: Any, signal: Any, **values: Any) -> None:
        self.sent.append(values)
