"""What a person wants to see of jobs and runs at a glance; nothing is locked or changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, OuterRef, Subquery

from django_leasejobs.clock import database_now
from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.models import UNFINISHED, Job, Run, RunStatus
from django_leasejobs.policies.health import can_take, is_alive

from .cursor import schedule_of
from .facts import worker_facts
from .history import last_outcome
from .transactions import alias


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOverview:
    """A job's row, how many of its runs run and wait now, and its last outcome.

    ``late``: for how long its next instant has been due, if it is.
    """

    name: str
    task: str
    schedule: str
    timezone: str
    words: str
    next_run_at: datetime | None
    late: timedelta | None
    running: int
    waiting: int
    last_status: str | None
    last_run: int | None
    last_ended_at: datetime | None
    source: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOverview:
    """Where a run stands."""

    id: int
    job_name: str
    status: str
    finished: bool
    reason: str
    error: str
    result: Any
    attempt: int
    worker_name: str
    started_at: datetime | None
    finished_at: datetime | None


def all_jobs() -> tuple[JobOverview, ...]:
    """Return all jobs by name. Four statements, however many jobs there are."""
    using = alias()
    now = database_now(using)
    newest_run = Subquery(last_outcome(OuterRef("pk")).values("pk"))
    jobs = list(Job.objects.using(using).annotate(newest=newest_run).order_by("name"))
    going = _going(using)
    newest = [job.newest for job in jobs if job.newest is not None]
    runs = {run.pk: run for run in Run.objects.using(using).filter(pk__in=newest).only("status", "finished_at")}
    return tuple(_overview(job, runs.get(job.newest), going, now) for job in jobs)


def look_at_run(run_id: int) -> RunOverview | None:
    """Return where this run stands; None when its row is gone."""
    run = Run.objects.using(alias()).filter(pk=run_id).defer("args", "kwargs", "state", "traceback", "log").first()
    if run is None:
        return None
    return RunOverview(
        id=run.pk,
        job_name=run.job_name or run.task,
        status=str(run.status),
        finished=run.is_finished,
        reason=run.reason,
        error=run.error,
        result=run.result,
        attempt=run.attempt,
        worker_name=run.worker_name,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )


def has_a_worker(*, task: str, queue: str) -> bool:
    """Tell whether a live worker takes runs of this task from this queue."""
    using = alias()
    now = database_now(using)
    return any(is_alive(item, now) and can_take(item, task=task, queue=queue) for item in worker_facts(using))


def _going(using: str) -> Counter[tuple[int | None, str]]:
    """Count the unfinished runs by job and status."""
    runs = Run.objects.using(using).filter(job__isnull=False, status__in=UNFINISHED).order_by()
    rows = runs.values_list("job_id", "status").annotate(count=Count("pk"))
    return Counter({(job_id, status): count for job_id, status, count in rows})


def _overview(job: Job, newest: Run | None, going: Counter[tuple[int | None, str]], now: datetime) -> JobOverview:
    due = job.next_run_at if job.active else None
    return JobOverview(
        name=job.name,
        task=job.task,
        schedule=job.schedule,
        timezone=job.timezone,
        words=_words_of(job),
        next_run_at=job.next_run_at,
        late=now - due if due is not None and due <= now else None,
        running=going[job.pk, RunStatus.RUNNING],
        waiting=going[job.pk, RunStatus.READY],
        last_status=None if newest is None else str(newest.status),
        last_run=None if newest is None else newest.pk,
        last_ended_at=None if newest is None else newest.finished_at,
        source=str(job.source),
        state=job.state.value,
    )


def _words_of(job: Job) -> str:
    """Say in words when the job runs, or what is wrong with its schedule."""
    try:
        return schedule_of(job).describe()
    except ScheduleError as error:
        return f"unreadable: {error}"
