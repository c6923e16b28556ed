"""Brings jobs' instants about, since nobody can move the database's clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django_leasejobs.engine.plan import Planned, plan_jobs
from django_leasejobs.models import Job, Run

from .factories import make_job, now

MINUTE = timedelta(minutes=1)


def this_minute() -> datetime:
    """The full minute that the database's clock is in."""
    return now().replace(second=0, microsecond=0)


def minutely(**values: Any) -> Job:
    """Insert a job that runs every minute and is not due before the tests say so."""
    return make_job(**{"schedule": "* * * * *", **values})


def come_due(job: Job, instant: datetime) -> Run:
    """Let this instant of a job come, and no later one; return its row."""
    Job.objects.filter(pk=job.pk).update(next_run_at=instant, ends_at=instant)
    plan_jobs()
    return Run.objects.get(job=job, scheduled_for=instant)


def plan_all() -> list[Planned]:
    """Plan until nothing is due, as a worker does; a plan that leaves as much behind would never end."""
    plans = [plan_jobs()]
    while plans[-1].more:
        assert len(plans) < 50
        plans.append(plan_jobs())
    return plans


def told(job: Job) -> list[tuple[str, int, str]]:
    """What the run table says about a job's instants, oldest first: status, count and reason."""
    rows = Run.objects.filter(job=job, scheduled_for__isnull=False).order_by("scheduled_for")
    return [(run.status, run.instants, run.reason) for run in rows]
