"""Pausing and resuming jobs."""

from __future__ import annotations

from collections.abc import Collection

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.models import Job, RunStatus
from django_leasejobs.policies.pausing import should_pause

from .cursor import next_instant
from .history import DECIDED, newest_ended
from .plan import record_due
from .transactions import alias, in_short_transaction

RESUMED = ("paused_at", "paused_by", "pause_reason", "next_run_at", "planned_until", "schedule_error")


@in_short_transaction
def pause_job(job_id: int, *, by: str, reason: str) -> bool:
    """Stop following a job's schedule; return False when it was paused already. Runs that wait or run go on.

    What was due before the pause gets its row. The time paused is not missed: a resume goes on from then, unless
    asked to catch up. Locks: the job row.
    """
    return _pause(alias(), job_id, by=by, reason=reason)


def _pause(using: str, job_id: int, *, by: str, reason: str) -> bool:
    jobs = Job.objects.using(using).filter(pk=job_id, paused_at__isnull=True)
    job = vendor.lock(jobs).annotate(now=DatabaseNow()).first()
    if job is None:
        return False
    now = as_utc(job.now)
    record_due(using, [job], now)
    job.paused_at, job.paused_by, job.pause_reason, job.next_run_at = now, by, reason, None
    job.save(using=using, update_fields=["paused_at", "paused_by", "pause_reason", "next_run_at", "planned_until"])
    return True


@in_short_transaction
def resume_job(job_id: int, *, catch_up: bool = False) -> bool:
    """Follow a paused job's schedule again; return False when it was not paused.

    The next instant is counted from now, or with ``catch_up`` from the last recorded one, so that what fell into
    the pause is treated as missed time is. Locks: the job row.
    """
    using = alias()
    job = vendor.lock(Job.objects.using(using).filter(pk=job_id)).annotate(now=DatabaseNow()).first()
    if job is None or job.paused_at is None:
        return False
    paused_at, job.paused_at, job.paused_by, job.pause_reason = job.paused_at, None, "", ""
    job.next_run_at = next_instant(job, paused_at if catch_up else as_utc(job.now))
    job.save(using=using, update_fields=RESUMED)
    return True


@in_short_transaction
def pause_failing_jobs(job_ids: Collection[int]) -> dict[str, str]:
    """Pause those of these jobs whose last runs all failed, as many as ``pause_after_failures`` says.

    Returns the reasons by job name. Looks at the history instead of keeping a counter, so a crash in between
    costs nothing. Locks: the job rows that it pauses.
    """
    using = alias()
    paused = {}
    watched = Job.objects.using(using).filter(pk__in=job_ids, paused_at__isnull=True, pause_after_failures__gt=0)
    for job in watched:
        limit = job.pause_after_failures
        assert limit is not None
        outcomes = newest_ended(job, DECIDED).using(using).values_list("status", flat=True)[:limit]
        if should_pause([status == RunStatus.FAILED for status in outcomes], limit):
            reason = f"{limit} runs in a row failed"
            if _pause(using, job.pk, by="", reason=reason):
                paused[job.name] = reason
    return paused
