"""From a job's row to a run of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django_leasejobs.models import Job, Origin, Run, RunStatus


def run_of(job: Job, *, now: datetime, origin: Origin, **over: Any) -> Run:
    """Build a run with a copy of what its job says, not saved."""
    values: dict[str, Any] = {
        "job_id": job.pk,
        "job_name": job.name,
        "task": job.task,
        "args": job.args,
        "kwargs": job.kwargs,
        "origin": origin,
        "status": RunStatus.READY,
        "available_at": now,
        "queue": job.queue,
        "priority": job.priority,
        "exclusive": job.exclusive,
        "lease_duration": job.lease,
        "timeout": job.timeout,
        "retries": job.retries,
        "backoff": job.backoff,
        "max_lost": job.max_lost,
        "created_at": now,
    }
    return Run(**{**values, **over})
