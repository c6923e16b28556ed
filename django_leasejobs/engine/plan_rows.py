"""The rows that due instants become: one job's share of a plan, not written yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import assert_never

from django_leasejobs.durations import A_MOMENT
from django_leasejobs.models import Job, Origin, Run, RunStatus
from django_leasejobs.policies.overlap import Overlap, Replace, SkipRun, Start, decide
from django_leasejobs.policies.planning import plan
from django_leasejobs.policies.planning_values import (
    DEFAULT_BOUNDS,
    Bounds,
    CatchUp,
    Due,
    Missed,
    Plan,
    PlanInput,
    Skipped,
    Timetable,
)
from django_leasejobs.policies.spreading import offset
from django_leasejobs.policies.unrecorded import Span, Unrecorded

from .calendars import Known, calendars_of
from .cursor import cursor_of, schedule_of
from .new_runs import run_of

ONLY_THE_NEWEST = Bounds(max_catch_up=1)


@dataclass(slots=True, kw_only=True)
class Batch:
    """What a plan knows of its jobs, and the rows that it is about to write.

    ``no_run_because``: why nothing of it may run, whatever the policies say; empty where it may.
    """

    now: datetime
    counts: Mapping[int, tuple[int, int]]
    calendars: Known
    recorded: Mapping[int, list[Span]]
    no_run_because: str = ""
    runs: list[Run] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)


def plan_one(job: Job, batch: Batch, *, catch_up: CatchUp | None = None) -> None:
    """Put the rows of a job's due instants into the batch, and move its cursor.

    ``catch_up`` stands in for the job's own. Raise ScheduleError, or whatever a row written past the forms makes
    of it; the job and the batch are left as they were then.
    """
    schedule = schedule_of(job)
    cursor = cursor_of(job, schedule)
    assert cursor is not None
    made = _decide(job, schedule, cursor, batch, catch_up or CatchUp(job.catch_up))
    if batch.no_run_because:
        made = made.without_runs(batch.no_run_because)
    runs, replaces = _rows(job, made, batch)
    batch.runs += runs
    batch.replaced += [job.pk] if replaces else []
    job.planned_until = made.entries[-1].last if made.entries else job.planned_until
    job.next_run_at, job.schedule_error = made.next_run_at, ""


def _decide(job: Job, schedule: Timetable, cursor: datetime, batch: Batch, catch_up: CatchUp) -> Plan:
    if spans := batch.recorded.get(job.pk):
        schedule = Unrecorded(schedule, spans)
        unrecorded = schedule.next_after(cursor - A_MOMENT)
        if unrecorded is None:
            return Plan((), None)
        cursor = unrecorded
    given = PlanInput(
        schedule=schedule,
        cursor=cursor,
        now=batch.now,
        catch_up=catch_up,
        start_deadline=job.start_deadline,
        ends_at=job.ends_at,
        spread_offset=offset(job.name, job.spread),
        excludes=calendars_of(job.exclude, batch.calendars),
    )
    # With ``replace`` each would cancel the one before it, so only the last can be wanted.
    return plan(given, ONLY_THE_NEWEST if job.overlap == Overlap.REPLACE else DEFAULT_BOUNDS)


def _rows(job: Job, made: Plan, batch: Batch) -> tuple[list[Run], bool]:
    """Return the job's rows, and whether its unfinished runs are to be replaced."""
    waiting, running = batch.counts.get(job.pk, (0, 0))
    dues = sum(isinstance(entry, Due) for entry in made.entries)
    # Instants that are all to run wait for each other: skipping them would undo the catch-up.
    all_run = dues > 1 and (job.catch_up == CatchUp.ALL or job.start_deadline is not None)
    overlap = Overlap.ALLOW if all_run else Overlap(job.overlap)
    rows, replaces = [], False
    for entry in made.entries:
        match entry:
            case Due(instant=instant):
                decision = decide(overlap, waiting=waiting, running=running)
                waiting += not isinstance(decision, SkipRun)
                replaces = replaces or isinstance(decision, Replace)
                rows.append(_due_row(job, instant, decision, batch.now))
            case Missed(first=first, last=last, count=count, reason=reason):
                rows.append(_over_row(job, RunStatus.MISSED, first, last, count, reason, batch.now))
            case Skipped(first=first, last=last, count=count, reason=reason):
                rows.append(_over_row(job, RunStatus.SKIPPED, first, last, count, reason, batch.now))
            case _:
                assert_never(entry)
    return rows, replaces


def _due_row(job: Job, instant: datetime, decision: Start | SkipRun | Replace, now: datetime) -> Run:
    if isinstance(decision, SkipRun):
        return _over_row(job, RunStatus.SKIPPED, instant, instant, 1, decision.reason, now)
    available = instant + offset(job.name, job.spread)
    return run_of(
        job,
        now=now,
        origin=Origin.SCHEDULE,
        scheduled_for=instant,
        available_at=available,
        start_before=available + job.start_deadline if job.start_deadline else None,
    )


def _over_row(
    job: Job, status: RunStatus, first: datetime, last: datetime, count: int, reason: str, now: datetime
) -> Run:
    return run_of(
        job,
        now=now,
        origin=Origin.SCHEDULE,
        status=status,
        scheduled_for=first,
        scheduled_until=last if count > 1 else None,
        instants=count,
        reason=reason,
        finished_at=now,
    )
