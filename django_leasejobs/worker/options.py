"""What a worker was asked to be, in one value."""

from __future__ import annotations

import os
import socket
import uuid
from dataclasses import dataclass
from datetime import timedelta

from django_leasejobs.engine.register import WorkerIdentity
from django_leasejobs.policies.trust import renew_every
from django_leasejobs.registry import registry

from .child_settings import Limits

HEARTBEAT_LEASE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """The options of ``run_job_worker``, checked; times are seconds."""

    queues: tuple[str, ...]
    concurrency: int
    pool: str
    poll_interval: float
    name: str
    shutdown_timeout: float
    drain: bool = False
    max_runs: int | None = None
    schedule: bool = True
    sync: bool = True
    notify: bool = True
    limits: Limits

    @property
    def heartbeat_every(self) -> float:
        return renew_every(HEARTBEAT_LEASE)

    def identity(self) -> WorkerIdentity:
        return WorkerIdentity(
            name=self.name,
            host=socket.gethostname(),
            pid=os.getpid(),
            pool=self.pool,
            concurrency=self.concurrency,
            queues=self.queues,
            tasks=tuple(sorted(registry.tasks)),
            heartbeat_every=timedelta(seconds=self.heartbeat_every),
        )


def default_name() -> str:
    """Return a name that no other worker has: a restarted container may get the same host and process id."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:6]}"
