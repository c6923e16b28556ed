"""Runs for the instants of a range that have none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django_leasejobs import vendor
from django_leasejobs.clock import database_now
from django_leasejobs.exceptions import ScheduleError, UnknownJob
from django_leasejobs.models import Job, Origin, Run

from .cursor import schedule_of
from .transactions import alias, in_short_transaction
from .trigger import WAKE_CLAIM, run_of

DEFAULT_LIMIT = 1000
A_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Backfilled:
    """The instants that got a run (or would get one), oldest first, and how many of the range have a row already."""

    instants: tuple[datetime, ...]
    recorded: int
    dry_run: bool


@in_short_transaction
def backfill_job(
    name: str, *, start: datetime, end: datetime, limit: int = DEFAULT_LIMIT, dry_run: bool = False
) -> Backfilled:
    """Insert one run for each instant of [``start``, ``end``] that has no row, oldest first.

    Running it twice makes nothing twice. Only instants before the job's next one count: the planner makes the
    later ones. Raise UnknownJob, or ScheduleError when the range is not one, lies in the future, or has more than
    ``limit`` instants without a row: the limit has to be raised on purpose.
    Locks: the job row. Beside it: plan (skips the job meanwhile).
    """
    using = alias()
    job = vendor.lock(Job.objects.using(using).filter(name=name)).first()
    if job is None:
        raise UnknownJob(f"There is no job named {name!r} in the job table. Run sync_jobs, or see list_jobs.")
    now = database_now(using)
    _check_range(job, start, end, now)
    last = end if job.next_run_at is None else min(end, job.next_run_at - A_MOMENT)
    recorded = _recorded(using, job, start, end)
    instants = schedule_of(job).instants(start - A_MOMENT, last, limit + len(recorded) + 1)
    missing = [instant for instant in instants if not _covered(instant, recorded)]
    if len(missing) > limit:
        raise ScheduleError(
            f"more than {limit} instants of {name!r} between {start.isoformat()} and {end.isoformat()} have no run;"
            " shorten the range or raise the limit",
            field="range",
        )
    if missing and not dry_run:
        runs = [
            run_of(job, now=now, origin=Origin.BACKFILL, scheduled_for=instant, available_at=now) for instant in missing
        ]
        Run.objects.using(using).bulk_create(runs)
        vendor.notify(using, WAKE_CLAIM)
    return Backfilled(tuple(missing), len(instants) - len(missing), dry_run)


def _check_range(job: Job, start: datetime, end: datetime, now: datetime) -> None:
    for field, value in (("from", start), ("to", end)):
        if value.tzinfo is None:
            raise ScheduleError(f"needs an offset or time zone: {value.isoformat()}", field=field)
    if end < start:
        raise ScheduleError(f"the range ends at {end.isoformat()}, before it starts at {start.isoformat()}", field="to")
    if start > now:
        raise ScheduleError(f"{start.isoformat()} is in the future: the planner makes those runs", field="from")
    if not job.schedule:
        raise ScheduleError(f"{job.name!r} has no schedule, so there are no instants to fill", field="schedule")


def _recorded(using: str, job: Job, start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    rows = Run.objects.using(using).filter(job=job, scheduled_for__lte=end, scheduled_for__isnull=False)
    spans = rows.order_by("scheduled_for").values_list("scheduled_for", "scheduled_until")
    return [(first, until or first) for first, until in spans if first is not None and (until or first) >= start]


def _covered(instant: datetime, recorded: list[tuple[datetime, datetime]]) -> bool:
    return any(first <= instant <= until for first, until in recorded)
