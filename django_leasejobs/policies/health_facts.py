"""What is judged about health, as far as anybody looked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol


class Beating(Protocol):
    """Whatever tells of a worker's heartbeat: its facts, or its row."""

    @property
    def heartbeat_at(self) -> datetime: ...

    @property
    def heartbeat_every(self) -> timedelta: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """A job. ``active``: its schedule is followed (enabled, not paused, not retired).

    ``failures_in_row`` counts its ended runs from the newest back to the last success, as far as was looked.
    ``pause_reason`` is set only when the job paused itself.
    """

    name: str
    active: bool = True
    next_run_at: datetime | None = None
    schedule_error: str = ""
    failures_in_row: int = 0
    pause_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseFacts:
    """A live claim; ``job_name`` is empty for a run without a job, ``deadline`` is when its timeout ends it."""

    token: int
    run_id: object
    worker_name: str
    expires_at: datetime
    job_name: str = ""
    deadline: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFacts:
    """A worker's row. Empty ``queues``: it serves all of them."""

    name: str
    started_at: datetime
    heartbeat_at: datetime
    heartbeat_every: timedelta
    tasks: frozenset[str] = frozenset()
    queues: frozenset[str] = frozenset()
    stopping: bool = False
    clock_offset: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingFacts:
    """READY runs of one task in one queue whose time has come, the oldest of them available at ``since``.

    Those that wait for another run of their job to end are no concern of the workers: leave them out.
    """

    task: str
    queue: str
    count: int
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that is judged, at one instant of the database's clock."""

    now: datetime
    jobs: tuple[JobFacts, ...] = ()
    leases: tuple[LeaseFacts, ...] = ()
    workers: tuple[WorkerFacts, ...] = ()
    waiting: tuple[WaitingFacts, ...] = ()
