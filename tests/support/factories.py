"""Rows for tests, built as the engine builds them, with only what a test cares about spelled out."""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.db import connection

from django_leasejobs.clock import database_now
from django_leasejobs.engine.claim import Claims, claim_runs
from django_leasejobs.models import Job, Origin, Run, Worker
from django_leasejobs.registry import Task, registry

NOOP = "tests.noop"
_numbers = itertools.count(1)


def noop(*args: Any, **kwargs: Any) -> None:
    """Do nothing."""


def now() -> datetime:
    """The database's time."""
    return database_now(connection.alias)


def make_task(name: str = NOOP, func: Any = noop, **options: Any) -> Task:
    """Register a task for the length of a test."""
    task = Task(name=name, func=func, **options)
    registry.add_task(task)
    return task


def make_job(**values: Any) -> Job:
    """Insert a job that runs only by hand unless a schedule is given."""
    values = {"name": f"job-{next(_numbers)}", "task": NOOP, **values}
    return Job.objects.create(**values)


def make_due_job(*, ago: timedelta = timedelta(0), **values: Any) -> Job:
    """Insert a job whose next instant came ``ago``; every minute unless a schedule is given."""
    instant = now() - ago
    values = {"schedule": "* * * * *", "next_run_at": instant.replace(second=0, microsecond=0), **values}
    return make_job(**values)


def make_run(job: Job | None = None, **values: Any) -> Run:
    """Insert a READY run that may start now."""
    instant = now()
    copied = {} if job is None else {"job": job, "job_name": job.name, "task": job.task, "exclusive": job.exclusive}
    origin = Origin.TASK if job is None else Origin.MANUAL
    values = {"task": NOOP, "origin": origin, "available_at": instant, "created_at": instant, **copied, **values}
    return Run.objects.create(**values)


def make_worker(**values: Any) -> Worker:
    """Insert the row of a worker that has just said hello."""
    instant = now()
    number = next(_numbers)
    values = {
        "name": f"worker-{number}",
        "host": "host",
        "pid": number,
        "version": "0",
        "pool": "process",
        "concurrency": 1,
        "tasks": [NOOP],
        "started_at": instant,
        "heartbeat_at": instant,
        "heartbeat_every": timedelta(seconds=20),
        **values,
    }
    return Worker.objects.create(**values)


def claim(
    limit: int = 1, *, worker: Worker | None = None, name: str = "tester", tasks: Any = (NOOP,), queues: Any = ()
) -> Claims:
    """Claim as a worker does."""
    return claim_runs(
        worker_id=None if worker is None else worker.pk,
        worker_name=name if worker is None else worker.name,
        queues=queues,
        tasks=tasks,
        limit=limit,
    )


def rng() -> Random:
    """A random source that repeats."""
    return Random(1)
