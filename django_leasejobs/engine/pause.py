"""Pausing and resuming jobs."""

from __future__ import annotations

from collections.abc import Collection

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow
from django_leasejobs.models import Job, Run, RunStatus
from django_leasejobs.policies.pausing import should_pause

from .cursor import next_instant
from .transactions import alias, in_short_transaction


@in_short_transaction
def pause_job(job_id: int, *, by: str, reason: str) -> bool:
    """Stop following a job's schedule; return False when it was paused already. Runs that wait or run go on.

    Locks: the job row. The time paused is not missed: a resume goes on from then, unless asked to catch up.
    """
    rows = Job.objects.using(alias()).filter(pk=job_id, paused_at__isnull=True)
    return rows.update(paused_at=DatabaseNow(), paused_by=by, pause_reason=reason, next_run_at=None) == 1


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
    job.next_run_at = next_instant(job, paused_at if catch_up else job.now)
    job.save(using=using, update_fields=["paused_at", "paused_by", "pause_reason", "next_run_at", "schedule_error"])
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
        decided = (RunStatus.SUCCESSFUL, RunStatus.FAILED)
        ended = Run.objects.using(using).filter(job=job, status__in=decided, finished_at__isnull=False)
        outcomes = list(ended.order_by("-finished_at", "-pk").values_list("status", flat=True)[:limit])
        if should_pause([status == RunStatus.FAILED for status in outcomes], limit):
            reason = f"{limit} runs in a row failed"
            rows = Job.objects.using(using).filter(pk=job.pk, paused_at__isnull=True)
            if rows.update(paused_at=DatabaseNow(), paused_by="", pause_reason=reason, next_run_at=None):
                paused[job.name] = reason
    return paused
