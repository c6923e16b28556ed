"""The ended runs of jobs, by the index for them, however long the history is."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import OuterRef, QuerySet

from django_leasejobs.models import FINISHED, Job, Run, RunStatus

DECIDED = (RunStatus.SUCCESSFUL, RunStatus.FAILED)
"""The ends that say whether a job works."""
OUTCOMES = tuple(status for status in FINISHED if status != RunStatus.SKIPPED)
"""The ends that are a job's last outcome: a SKIPPED one tells of another run that was going, or of a calendar."""


def newest_ended(job: Job | OuterRef, statuses: Collection[str] | None = None) -> QuerySet[Run]:
    """Select the ended runs of a job, or of the outer query's, the newest first."""
    ended = Run.objects.filter(job=job, finished_at__isnull=False)
    if statuses is not None:
        ended = ended.filter(status__in=statuses)
    return ended.order_by("-finished_at", "-pk")


def last_outcome(job: Job | OuterRef) -> QuerySet[Run]:
    """Select the run whose end is a job's last outcome; whether it was by hand or by schedule is all the same."""
    return newest_ended(job, OUTCOMES)[:1]
