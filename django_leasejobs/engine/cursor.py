"""From a job's row to its next instant; a row that can't be read is marked and stops only itself."""

from __future__ import annotations

from datetime import datetime

from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.models import Job
from django_leasejobs.policies.moved import instant_meant
from django_leasejobs.policies.planning import first_instant
from django_leasejobs.schedules import Schedule, parse

# What an edit of which makes a job's next instant another one. ``H`` in a schedule is hashed from the name.
MOVES_THE_CURSOR = frozenset({"name", "schedule", "timezone", "starts_at", "ends_at"})


def schedule_of(job: Job) -> Schedule:
    """Parse a job's schedule; raise ScheduleError."""
    return parse(job.schedule, job.timezone, name=job.name, anchor=job.starts_at)


def cursor_of(job: Job, schedule: Schedule) -> datetime | None:
    """Return the first instant that the job's next plan sees, by the rules that its zone has today."""
    if job.next_run_at is None or not schedule.follows_a_zone:
        return job.next_run_at
    return instant_meant(schedule, job.next_run_at, job.planned_until)


def next_instant(job: Job, now: datetime) -> datetime | None:
    """Return the first instant after ``now`` that is not recorded yet, None when there is none to come.

    Sets ``job.schedule_error`` to the reason when the schedule can't be followed, else to nothing. Then
    ``planned_until`` is moved on to ``now`` as well, so that the job, once mended, goes on from there.
    """
    job.schedule_error = ""
    if job.paused_at is not None:
        # A resume that catches up must not apply what holds from now on to the time before.
        job.planned_until = max(now, job.planned_until or now)
    if not job.active or not job.schedule:
        return None
    try:
        schedule = schedule_of(job)
    except ScheduleError as error:
        job.schedule_error = str(error)
        job.planned_until = max(now, job.planned_until or now)
        return None
    found = first_instant(
        schedule, now=now, starts_at=job.starts_at, planned_until=job.planned_until, ends_at=job.ends_at
    )
    if found is None and job.planned_until is None:
        until = f", up to {job.ends_at.isoformat()}" if job.ends_at else ""
        job.schedule_error = f"schedule: it will never run, as no instant is to come: {schedule.describe()}{until}"
    return found
