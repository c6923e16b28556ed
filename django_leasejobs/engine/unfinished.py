"""The unfinished runs of a job: what its overlap policy sees of them, and how they make way."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow
from django_leasejobs.models import UNFINISHED, Job, Origin, Run, RunStatus
from django_leasejobs.policies.overlap import Overlap, Replace, SkipRun, Start, decide

from .cancel import cancel_ready, request_cancel


def overlapping(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Select the unfinished runs that overlap policies look at.

    Not those of a backfill, which give way to the job's other runs, nor those that were triggered for later.
    """
    deferred = Q(origin=Origin.MANUAL, status=RunStatus.READY, started_at__isnull=True, available_at__gt=DatabaseNow())
    return runs.filter(status__in=UNFINISHED).exclude(origin=Origin.BACKFILL).exclude(deferred)


def weigh_overlap(using: str, job: Job) -> Start | SkipRun | Replace:
    """Decide about one more run of a job whose row the caller has locked."""
    statuses = list(overlapping(Run.objects.using(using).filter(job=job)).values_list("status", flat=True)[:1000])
    return decide(
        Overlap(job.overlap), waiting=statuses.count(RunStatus.READY), running=statuses.count(RunStatus.RUNNING)
    )


def replace_unfinished(using: str, job_ids: Sequence[int], reason: str) -> tuple[str, ...]:
    """Cancel what waits of these jobs and ask for the end of what runs: leases before runs, as everywhere.

    Return what the caller's notification has to say beside its own word.
    """
    if not job_ids:
        return ()
    run_ids = list(overlapping(Run.objects.using(using).filter(job__in=job_ids)).values_list("pk", flat=True))
    asked = request_cancel(using, run_ids, reason)
    cancel_ready(using, run_ids, reason)
    return (vendor.WAKE_CANCEL,) if asked else ()
