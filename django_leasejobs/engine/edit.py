"""A person defines or edits a job; its next instant follows."""

from __future__ import annotations

from django_leasejobs import vendor
from django_leasejobs.clock import database_now
from django_leasejobs.exceptions import JobDefinitionError
from django_leasejobs.models import Job

from .cursor import MOVES_THE_CURSOR, next_instant
from .plan import record_due
from .transactions import alias, in_short_transaction

# What the engine keeps in the row: an edit never brings back what these were when the form was opened.
KEPT_BY_THE_ENGINE = (
    "next_run_at",
    "planned_until",
    "schedule_error",
    "paused_at",
    "paused_by",
    "pause_reason",
    "retired_at",
)


@in_short_transaction
def save_job(job: Job) -> Job:
    """Store a new or edited job. When the edit says when it runs, the next instant is counted from now.

    Nothing is doubled (instants with a row are not planned again), nothing of the past is replayed, and what was due
    before the edit gets its row first. Raise JobDefinitionError when another job has its name.
    Locks: the job row. Beside it: plan (skips the job meanwhile; its cursor is taken from the locked row).
    """
    using = alias()
    now = database_now(using)
    if Job.objects.using(using).filter(name=job.name).exclude(pk=job.pk).exists():
        words = f"There is a job named {job.name!r} already; give this one another name."
        raise JobDefinitionError(words, field="name")
    stored = vendor.lock(Job.objects.using(using).filter(pk=job.pk)).first()
    if stored is None:
        job.next_run_at = next_instant(job, now)
        job.save(using=using)
        return job
    moved = any(getattr(stored, name) != getattr(job, name) for name in (*MOVES_THE_CURSOR, "enabled"))
    if moved:
        record_due(using, [stored], now)
    for name in KEPT_BY_THE_ENGINE:
        setattr(job, name, getattr(stored, name))
    if moved or job.schedule_error:
        job.next_run_at = next_instant(job, now)
    job.save(using=using)
    return job


@in_short_transaction
def set_enabled(job_ids: list[int], enabled: bool) -> int:
    """Switch jobs on or off, alike for one and for many; return how many changed.

    Switched on, a job goes on from now: what fell into the time between is not made up. Locks: the job rows, by key.
    """
    using = alias()
    now = database_now(using)
    jobs = Job.objects.using(using).filter(pk__in=job_ids).exclude(enabled=enabled).order_by("pk")
    changed = list(vendor.lock(jobs))
    record_due(using, changed, now)
    for job in changed:
        job.enabled = enabled
        job.next_run_at = next_instant(job, now)
    if changed:
        columns = ["enabled", "next_run_at", "planned_until", "schedule_error"]
        Job.objects.using(using).bulk_update(changed, columns)
    return len(changed)
