"""The last runs of jobs, each the end of an index, however long the history is."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from django_leasejobs.engine.history import last_outcome, newest_ended
from django_leasejobs.engine.transactions import alias
from django_leasejobs.models import UNFINISHED, Job, Run

LAST = "last_ended"
RECENT = 5


def with_last_runs(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Add the key of the run whose end is each job's last outcome."""
    return jobs.annotate(**{LAST: Subquery(last_outcome(OuterRef("pk")).values("pk"))})


def fetch_last_runs(jobs: list[Any]) -> None:
    """Set ``last_run`` of jobs that came by way of ``with_last_runs``, in one statement."""
    keys = [key for job in jobs if (key := getattr(job, LAST)) is not None]
    runs = Run.objects.using(alias()).only("status", "finished_at").in_bulk(keys)
    for job in jobs:
        job.last_run = runs.get(getattr(job, LAST))


def recent_runs(job: Job) -> list[Run]:
    """Return the last runs of a job: those that wait or run, then those that ended, the newest first."""
    unfinished = Run.objects.filter(job=job, status__in=UNFINISHED).order_by("-pk")
    looks = (runs.using(alias()).only("status")[:RECENT] for runs in (unfinished, newest_ended(job)))
    return list(islice(chain.from_iterable(looks), RECENT))
