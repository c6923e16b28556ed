"""What a person wants to see of jobs and runs at a glance; nothing is locked or changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import OuterRef, Subquery

from django_leasejobs.clock import database_now
from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.models import Job, Run
from django_leasejobs.policies.health import can_take, is_alive

from .cursor import schedule_of
from .facts import worker_facts
from .history import newest_ended
from .transactions import alias


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOverview:
    """A job's row and how its last run ended. ``late``: for how long its next instant has been due, if it is."""

    name: str
    task: str
    schedule: str
    timezone: str
    words: str
    next_run_at: datetime | None
    late: timedelta | None
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
    """Return all jobs by name. Three statements, however many jobs there are."""
    using = alias()
    now = database_now(using)
    newest_run = Subquery(newest_ended(OuterRef("pk")).values("pk")[:1])
    jobs = list(Job.objects.using(using).annotate(newest=newest_run).order_by("name"))
    newest = [job.newest for job in jobs if job.newest is not None]
    runs = {run.pk: run for run in Run.objects.using(using).filter(pk__in=newest).only("status", "finished_at")}
    return tuple(_overview(job, runs.get(job.newest), now) for job in jobs)


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


def words_of(job: Job) -> str:
    """Say in words when the job runs, or what is wrong with its schedule."""
    try:
        return schedule_of(job).describe()
    except ScheduleError as error:
        return f"unreadable: {error}"


def _overview(job: Job, newest: Run | None, now: datetime) -> JobOverview:
    due = job.active and job.next_run_at is not None and job.next_run_at <= now
    return JobOverview(
        name=job.name,
        task=job.task,
        schedule=job.schedule,
        timezone=job.timezone,
        words=words_of(job),
        next_run_at=job.next_run_at,
        late=now - job.next_run_at if due and job.next_run_at is not None else None,
        last_status=None if newest is None else str(newest.status),
        last_run=None if newest is None else newest.pk,
        last_ended_at=None if newest is None else newest.finished_at,
        source=str(job.source),
        state=job.state.value,
    )
