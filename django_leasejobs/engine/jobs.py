"""Jobs by their names."""

from __future__ import annotations

import difflib
from datetime import datetime

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.exceptions import JobDefinitionError, UnknownJob
from django_leasejobs.models import Job
from django_leasejobs.registry import registry

from .transactions import alias


def find_job(name: str) -> Job:
    """Return the job of this name; raise UnknownJob, which names the close ones."""
    using = alias()
    job = Job.objects.using(using).filter(name=name).first()
    if job is None:
        raise _unknown(using, name)
    return job


def lock_job(using: str, name: str) -> tuple[Job, datetime]:
    """Lock the job of this name; return it with the database's time. Raise UnknownJob as ``find_job`` does."""
    job = vendor.lock(Job.objects.using(using).filter(name=name)).annotate(now=DatabaseNow()).first()
    if job is None:
        raise _unknown(using, name)
    return job, as_utc(job.now)


def require_in_code(job: Job) -> None:
    """Raise JobDefinitionError for a retired job: a run of it would wait for a worker that there isn't."""
    if job.retired_at is None:
        return
    reason = f"no code has defined it since {as_utc(job.retired_at):%Y-%m-%d %H:%M:%S} UTC"
    words = f"The job {job.name!r} is retired, {reason}, so no worker can run it."
    if job.name in registry.jobs:
        words += " This code defines it again: run sync_jobs first."
    raise JobDefinitionError(words, reason=reason)


def _unknown(using: str, name: str) -> UnknownJob:
    words = f"There is no job named {name!r} in the job table."
    if name in registry.jobs:
        return UnknownJob(f"{words} The code defines it: run sync_jobs first.")
    names = Job.objects.using(using).order_by().values_list("name", flat=True)
    if close := difflib.get_close_matches(name, names, n=3):
        return UnknownJob(f"{words} Did you mean {' or '.join(map(repr, close))}?")
    return UnknownJob(f"{words} See list_jobs for the names.")
