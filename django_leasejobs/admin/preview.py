"""What a job's schedule means: in words, and the next instants."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.utils import dateformat
from django.utils.translation import gettext as _

from django_leasejobs.engine.calendars import calendars_of, known_calendars
from django_leasejobs.engine.cursor import schedule_of
from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.models import Job
from django_leasejobs.policies.planning import first_instant
from django_leasejobs.schedules import Schedule, zone

SHOWN = 5
MOST_LOOKED_AT = 2000


@dataclass(frozen=True, slots=True)
class Instant:
    """One instant to come, in the job's zone with its offset and in UTC; ``note`` tells of a clock change."""

    local: str
    utc: str
    note: str = ""


@dataclass(slots=True)
class Preview:
    """``error`` says why there is nothing to show, ``left_out`` how many instants calendars take away."""

    words: str = ""
    instants: list[Instant] = field(default_factory=list)
    left_out: int = 0
    error: str = ""


def preview(job: Job, now: datetime) -> Preview:
    """Say what the schedule of a job, saved or not, comes to after ``now``."""
    try:
        schedule = schedule_of(job)
        shown = Preview(words=_describe(schedule))
        excluded = calendars_of(job.exclude, known_calendars(job.exclude)) if job.exclude else []
    except ScheduleError as error:
        return Preview(error=str(error))
    instant = first_instant(schedule, now=now, starts_at=job.starts_at, ends_at=job.ends_at)
    for _number in range(MOST_LOOKED_AT):
        if instant is None or len(shown.instants) == SHOWN:
            break
        if any(calendar.covers(instant) for calendar in excluded):
            shown.left_out += 1
        else:
            shown.instants.append(_written(schedule, instant))
        instant = first_instant(schedule, now=instant, ends_at=job.ends_at)
    return shown


def words_of(job: Job) -> str:
    """Say in words when a job runs; its text where that can't be read."""
    try:
        return _describe(schedule_of(job)) if job.schedule else _("only by hand")
    except ScheduleError:
        return job.schedule


def in_zone(instant: datetime, timezone: str) -> datetime:
    """Return an instant in a job's zone; in UTC where the zone is not known."""
    try:
        return instant.astimezone(zone(timezone))
    except ScheduleError:
        return instant.astimezone(UTC)


def _describe(schedule: Schedule) -> str:
    """Say when it fires without its zone, which has a place of its own on the page."""
    return schedule.describe().removesuffix(f", {schedule.timezone}")


def _written(schedule: Schedule, instant: datetime) -> Instant:
    there = in_zone(instant, schedule.timezone)
    return Instant(
        local=f"{dateformat.format(there, 'D')} {there.isoformat(' ', 'seconds')}",
        utc=instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        note=schedule.touched_by_clock_change(instant) or "",
    )
