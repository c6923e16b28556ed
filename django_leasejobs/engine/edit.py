"""A person defines or edits a job; its next instant follows."""

from __future__ import annotations

from django_leasejobs import vendor
from django_leasejobs.clock import database_now
from django_leasejobs.models import Job

from .cursor import next_instant
from .sync import MOVES_THE_CURSOR
from .transactions import alias, in_short_transaction


@in_short_transaction
def save_job(job: Job) -> Job:
    """Store a new or edited job. When the edit says when it runs, the next instant is counted from now.

    Nothing is doubled (instants with a row are not planned again) and nothing of the past is replayed.
    Locks: the job row. Beside it: plan (skips the job meanwhile; its cursor is taken from the locked row).
    """
    using = alias()
    now = database_now(using)
    stored = None if job._state.adding else vendor.lock(Job.objects.using(using).filter(pk=job.pk)).first()
    if stored is None:
        job.next_run_at = next_instant(job, now)
        job.save(using=using)
        return job
    job.planned_until, job.next_run_at = stored.planned_until, stored.next_run_at
    if stored.active != job.active or any(getattr(stored, name) != getattr(job, name) for name in MOVES_THE_CURSOR):
        job.next_run_at = next_instant(job, now)
    job.save(using=using)
    return job


@in_short_transaction
def set_enabled(job_ids: list[int], enabled: bool) -> int:
    """Switch jobs on or off, alike for one and for many; return how many changed. Locks: the job rows, by key."""
    using = alias()
    now = database_now(using)
    jobs = Job.objects.using(using).filter(pk__in=job_ids).exclude(enabled=enabled).order_by("pk")
    changed = list(vendor.lock(jobs))
    for job in changed:
        job.enabled = enabled
        job.next_run_at = next_instant(job, now)
    if changed:
        Job.objects.using(using).bulk_update(changed, ["enabled", "next_run_at", "schedule_error"])
    return len(changed)
