"""Runs for the instants of a range that have none."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from datetime import datetime

from django_leasejobs import vendor
from django_leasejobs.durations import A_MOMENT
from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.models import Job, Origin, Run, RunStatus
from django_leasejobs.policies.backfilling import Filling, Row, Stretch, fill
from django_leasejobs.policies.limits import LOWEST_PRIORITY
from django_leasejobs.schedules import Schedule

from .calendars import calendars_of, known_calendars, names_in
from .cursor import cursor_of, schedule_of
from .jobs import lock_job, require_in_code
from .new_runs import run_of
from .transactions import alias, in_short_transaction

DEFAULT_LIMIT = 1000
LARGEST_RANGE = 200_000
ROWS_IN_A_STATEMENT = 1000
WITHOUT_A_RUN = (RunStatus.MISSED, RunStatus.SKIPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfilled:
    """The instants that got a run (or would get one), oldest first, and what became of the others of the range.

    ``recorded`` have a run already, ``excluded`` fall into a calendar that the job excludes, ``unclear`` lie within a
    row that counts instants of an earlier schedule. Instants from ``left_to_plan`` on are the planner's.
    """

    instants: tuple[datetime, ...]
    recorded: int
    excluded: int
    unclear: int
    left_to_plan: datetime | None
    dry_run: bool


@in_short_transaction
def backfill_job(
    name: str,
    *,
    start: datetime,
    end: datetime,
    limit: int = DEFAULT_LIMIT,
    dry_run: bool = False,
    triggered_by: str = "",
) -> Backfilled:
    """Insert one run for each instant of [``start``, ``end``] that has none, oldest first.

    An instant that a MISSED row stands for, or one SKIPPED because of overlap, has no run: it is taken out of that
    row. Running it twice makes nothing twice. Only instants before the job's next one and from ``starts_at`` to
    ``ends_at`` count. Raise UnknownJob, JobDefinitionError for a retired job, or ScheduleError when the range is not
    one, lies in the future, or has more than ``limit`` instants without a run (not in a dry run, which only tells).
    Locks: the job row, then the MISSED and SKIPPED rows of the range. Beside it: plan (skips the job meanwhile),
    prune (what it deleted first has no row any more).
    """
    using = alias()
    job, now = lock_job(using, name)
    require_in_code(job)
    _check_range(job, start, end, now)
    schedule = schedule_of(job)
    cursor = cursor_of(job, schedule)
    first, last = _bounds(job, start, end, now, cursor)
    rows, without_run = _rows(using, job, first, last)
    calendars = calendars_of(job.exclude, known_calendars(names_in(job.exclude)))
    filling = fill(schedule, _instants(job, schedule, first, last), rows, calendars)
    if not dry_run:
        _check_limit(name, filling, limit)
        _write(using, job, filling, without_run, now, triggered_by)
    return Backfilled(
        instants=filling.instants,
        recorded=filling.ran,
        excluded=filling.excluded,
        unclear=filling.unclear,
        left_to_plan=cursor if cursor is not None and cursor <= end else None,
        dry_run=dry_run,
    )


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


def _bounds(
    job: Job, start: datetime, end: datetime, now: datetime, cursor: datetime | None
) -> tuple[datetime, datetime]:
    """Cut the range to the past instants that exist and that no plan will see."""
    last = min(end, now, job.ends_at or now)
    return max(start, job.starts_at or start), last if cursor is None else min(last, cursor - A_MOMENT)


def _instants(job: Job, schedule: Schedule, first: datetime, last: datetime) -> list[datetime]:
    instants = schedule.instants(first - A_MOMENT, last, LARGEST_RANGE + 1)
    if len(instants) > LARGEST_RANGE:
        words = f"the range holds more than {LARGEST_RANGE:,} instants of {job.name!r}; shorten it"
        raise ScheduleError(words, field="to")
    return instants


def _check_limit(name: str, filling: Filling, limit: int) -> None:
    if len(filling.instants) > limit:
        raise ScheduleError(
            f"{len(filling.instants):,} instants of {name!r} have no run, more than the limit of {limit:,};"
            " shorten the range, or raise the limit on purpose",
            field="limit",
        )


def _rows(using: str, job: Job, first: datetime, last: datetime) -> tuple[list[Row], dict[int, Run]]:
    """Return all rows that matter for the range, and the lockable ones among them by key."""
    planned = Run.objects.using(using).filter(job=job, scheduled_for__lte=last)
    reaching_in = planned.filter(scheduled_until__gte=first).values_list("scheduled_for", "scheduled_until")
    ends = [end for pair in reaching_in for end in pair if end is not None]
    within = Run.objects.using(using).filter(
        job=job, scheduled_for__gte=min([first, *ends]), scheduled_for__lte=max([last, *ends])
    )
    without_run = {run.pk: run for run in vendor.lock(within.filter(status__in=WITHOUT_A_RUN).order_by("pk"))}
    ran = within.exclude(status__in=WITHOUT_A_RUN).values_list("pk", "scheduled_for")
    rows = [Row(key, instant, instant, 1, ran=True) for key, instant in ran if instant is not None]
    for key, run in without_run.items():
        assert run.scheduled_for is not None
        rows.append(Row(key, run.scheduled_for, run.scheduled_until or run.scheduled_for, run.instants, ran=False))
    return rows, without_run


def _write(using: str, job: Job, filling: Filling, rows: dict[int, Run], now: datetime, triggered_by: str) -> None:
    """Take the instants out of the rows that stood for them, then insert their runs, oldest first."""
    gone = [key for key, left in filling.rewritten.items() if not left]
    Run.objects.using(using).filter(pk__in=gone).delete()
    shrunk: list[Run] = []
    split: list[Run] = []
    for key, left in filling.rewritten.items():
        for position, stretch in enumerate(left):
            (split if position else shrunk).append(_standing_for(rows[key], stretch, new=position > 0))
    columns = ["scheduled_for", "scheduled_until", "instants"]
    Run.objects.using(using).bulk_update(shrunk, columns, batch_size=ROWS_IN_A_STATEMENT)
    Run.objects.using(using).bulk_create(split, batch_size=ROWS_IN_A_STATEMENT)
    Run.objects.using(using).bulk_create(
        _runs(job, filling.instants, now, triggered_by), batch_size=ROWS_IN_A_STATEMENT
    )
    if filling.instants:
        vendor.notify(using, vendor.WAKE_CLAIM)


def _standing_for(run: Run, stretch: Stretch, *, new: bool) -> Run:
    row = copy(run)
    if new:
        row.pk = None
    row.scheduled_for, row.instants = stretch.first, stretch.count
    row.scheduled_until = stretch.last if stretch.count > 1 else None
    return row


def _runs(job: Job, instants: Iterable[datetime], now: datetime, triggered_by: str) -> list[Run]:
    """Build the runs. They give way to the job's other runs, and wait for each other unless these may overlap."""
    return [
        run_of(
            job,
            now=now,
            origin=Origin.BACKFILL,
            scheduled_for=instant,
            priority=max(job.priority - 1, LOWEST_PRIORITY),
            triggered_by=triggered_by,
        )
        for instant in instants
    ]
