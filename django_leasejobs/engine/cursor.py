"""From a job's row to its next instant; a row that can't be read is marked and stops only itself."""

from __future__ import annotations

from datetime import datetime

from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.models import Job
from django_leasejobs.policies.planning import first_instant
from django_leasejobs.schedules import Schedule, parse


def schedule_of(job: Job) -> Schedule:
    """Parse a job's schedule; raise ScheduleError."""
    return parse(job.schedule, job.timezone, name=job.name, anchor=job.starts_at)


def next_instant(job: Job, now: datetime) -> datetime | None:
    """Return the first instant after ``now`` that is not recorded yet, None when there is none to come.

    Sets ``job.schedule_error`` to the reason when the schedule can't be followed, else to nothing.
    """
    job.schedule_error = ""
    if not job.active:
        return None
    try:
        schedule = schedule_of(job)
    except ScheduleError as error:
        job.schedule_error = str(error)
        return None
    return first_instant(
        schedule, now=now, starts_at=job.starts_at, planned_until=job.planned_until, ends_at=job.ends_at
    )
