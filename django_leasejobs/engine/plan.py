"""Due instants of jobs become rows of the run table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import assert_never

from django.db.models import Count, Q

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.models import UNFINISHED, Job, Origin, Run, RunStatus
from django_leasejobs.policies.calendars import Calendar
from django_leasejobs.policies.overlap import Overlap, Replace, SkipRun, Start, decide
from django_leasejobs.policies.planning import CatchUp, Due, Missed, Plan, PlanInput, Skipped, plan
from django_leasejobs.policies.spreading import offset

from .calendars import calendars_of, known_calendars
from .cursor import schedule_of
from .transactions import alias, in_short_transaction
from .trigger import WAKE_CLAIM, replace_unfinished, run_of

BATCH = 200


@dataclass(frozen=True, slots=True)
class MissedInstants:
    """Instants of one job that got a MISSED or SKIPPED row."""

    job_name: str
    first: datetime
    last: datetime
    count: int
    reason: str
    status: RunStatus


@dataclass(frozen=True, slots=True)
class Planned:
    """What a plan wrote. ``more``: jobs may still be due, so plan again at once."""

    jobs: int = 0
    runs: int = 0
    missed: tuple[MissedInstants, ...] = ()
    broken: tuple[tuple[str, str], ...] = ()
    more: bool = False


@dataclass(slots=True)
class Batch:
    """The rows that one plan is about to write."""

    now: datetime
    counts: Mapping[int, tuple[int, int]]
    runs: list[Run] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    broken: list[tuple[str, str]] = field(default_factory=list)


@in_short_transaction
def plan_jobs(*, limit: int = BATCH) -> Planned:
    """Give each due instant of up to ``limit`` due jobs its row, and advance their cursors in the same transaction.

    Locks: the due job rows, the longest due first, skipping what is locked elsewhere; with ``overlap="replace"``
    then lease and run rows. Beside it: other plans (they get other jobs), trigger, pause, sync and edits (they
    lock the job row, so the cursor moves only from the value read here), claim (it wants the job's lock too).
    A job whose schedule can't be read is marked with the reason and taken off the due list; the rest go on.
    """
    using = alias()
    due = Job.objects.using(using).filter(next_run_at__lte=DatabaseNow()).order_by("next_run_at")
    jobs = list(vendor.lock(due, skip_locked=True).annotate(now=DatabaseNow())[:limit])
    if not jobs:
        return Planned()
    batch = Batch(now=as_utc(jobs[0].now), counts=_unfinished_counts(using, jobs))
    calendars = known_calendars(name for job in jobs for name in job.exclude)
    for job in jobs:
        _plan_one(job, batch, calendars)
    _drop_recorded(using, batch)
    replace_unfinished(using, batch.replaced, "replaced by the next instant")
    Run.objects.using(using).bulk_create(batch.runs)
    Job.objects.using(using).bulk_update(jobs, ["next_run_at", "planned_until", "schedule_error"])
    ready = sum(run.status == RunStatus.READY for run in batch.runs)
    if ready:
        vendor.notify(using, WAKE_CLAIM)
    again = any(job.next_run_at is not None and job.next_run_at <= batch.now for job in jobs)
    return Planned(
        jobs=len(jobs),
        runs=ready,
        missed=tuple(_told(run) for run in batch.runs if run.status != RunStatus.READY),
        broken=tuple(batch.broken),
        more=again or len(jobs) == limit,
    )


def _unfinished_counts(using: str, jobs: Sequence[Job]) -> Mapping[int, tuple[int, int]]:
    """Return how many runs of each job wait and how many run; jobs without any are left out."""
    ids = [job.pk for job in jobs if job.exclusive]
    if not ids:
        return {}
    rows = (
        Run.objects.using(using)
        .filter(job__in=ids, status__in=UNFINISHED)
        .values_list("job_id")
        .annotate(
            waiting=Count("pk", filter=Q(status=RunStatus.READY)),
            running=Count("pk", filter=Q(status=RunStatus.RUNNING)),
        )
        .order_by()
    )
    return {job_id: (waiting, running) for job_id, waiting, running in rows if job_id is not None}


def _plan_one(job: Job, batch: Batch, calendars: Mapping[str, Calendar]) -> None:
    """Plan one job into the batch and move its cursor; mark it instead when it can't be planned."""
    assert job.next_run_at is not None
    try:
        made = plan(_input(job, batch.now, calendars))
    except Exception as error:  # noqa: BLE001  (a malformed row stops only itself)
        words = str(error) if isinstance(error, ScheduleError) else f"{type(error).__name__}: {error}"
        job.next_run_at, job.schedule_error = None, words
        batch.broken.append((job.name, words))
        return
    batch.runs.extend(_rows(job, made, batch))
    job.planned_until = _last_instant(made) or job.planned_until
    job.next_run_at, job.schedule_error = made.next_run_at, ""


def _input(job: Job, now: datetime, calendars: Mapping[str, Calendar]) -> PlanInput:
    assert job.next_run_at is not None
    catch_up = CatchUp(job.catch_up)
    if job.overlap == Overlap.REPLACE and catch_up == CatchUp.ALL:
        # Each would cancel the one before it: only the last can be wanted.
        catch_up = CatchUp.LATEST
    return PlanInput(
        schedule=schedule_of(job),
        cursor=job.next_run_at,
        now=now,
        catch_up=catch_up,
        start_deadline=job.start_deadline,
        ends_at=job.ends_at,
        spread_offset=offset(job.name, job.spread),
        excludes=calendars_of(job.exclude, calendars),
    )


def _rows(job: Job, made: Plan, batch: Batch) -> list[Run]:
    waiting, running = batch.counts.get(job.pk, (0, 0))
    dues = sum(isinstance(entry, Due) for entry in made.entries)
    # Caught-up instants of one pass wait for each other: skipping them would undo the catch-up.
    overlap = Overlap.ALLOW if dues > 1 else Overlap(job.overlap)
    rows = []
    for entry in made.entries:
        match entry:
            case Due(instant=instant):
                rows.append(_due_row(job, instant, decide(overlap, waiting=waiting, running=running), batch))
            case Missed(first=first, last=last, count=count, reason=reason):
                rows.append(_over_row(job, RunStatus.MISSED, first, last, count, reason, batch.now))
            case Skipped(first=first, last=last, count=count, reason=reason):
                rows.append(_over_row(job, RunStatus.SKIPPED, first, last, count, reason, batch.now))
            case _:
                assert_never(entry)
    return rows


def _due_row(job: Job, instant: datetime, decision: Start | SkipRun | Replace, batch: Batch) -> Run:
    match decision:
        case SkipRun(reason=reason):
            return _over_row(job, RunStatus.SKIPPED, instant, instant, 1, reason, batch.now)
        case Replace():
            batch.replaced.append(job.pk)
        case Start():
            pass
        case _:
            assert_never(decision)
    available = instant + offset(job.name, job.spread)
    return run_of(
        job,
        now=batch.now,
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


def _last_instant(made: Plan) -> datetime | None:
    if not made.entries:
        return None
    last = made.entries[-1]
    return last.instant if isinstance(last, Due) else last.last


def _drop_recorded(using: str, batch: Batch) -> None:
    """Leave out instants that have a row already: a backfill reached past the cursor, or a clock was set back."""
    instants = {run.scheduled_for for run in batch.runs}
    job_ids = {run.job_id for run in batch.runs}
    if not instants:
        return
    recorded = set(
        Run.objects.using(using)
        .filter(job__in=job_ids, scheduled_for__in=instants)
        .values_list("job_id", "scheduled_for")
    )
    batch.runs = [run for run in batch.runs if (run.job_id, run.scheduled_for) not in recorded]


def _told(run: Run) -> MissedInstants:
    assert run.scheduled_for is not None
    return MissedInstants(
        job_name=run.job_name,
        first=run.scheduled_for,
        last=run.scheduled_until or run.scheduled_for,
        count=run.instants,
        reason=run.reason,
        status=RunStatus(run.status),
    )
