"""Due instants of jobs become rows of the run table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.durations import A_MOMENT
from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.models import Job, Run, RunStatus
from django_leasejobs.policies.planning_values import CatchUp
from django_leasejobs.policies.unrecorded import Span

from .calendars import known_calendars, names_in
from .plan_rows import Batch, plan_one
from .transactions import alias, in_short_transaction
from .unfinished import overlapping, replace_unfinished

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
    batch = _batch(using, jobs, as_utc(jobs[0].now))
    broken = [(job.name, words) for job in jobs if (words := _plan_or_explain(job, batch))]
    ready = _write(using, batch)
    Job.objects.using(using).bulk_update(jobs, ["next_run_at", "planned_until", "schedule_error"])
    again = any(job.next_run_at is not None and job.next_run_at <= batch.now for job in jobs)
    return Planned(
        jobs=len(jobs),
        runs=ready,
        missed=tuple(_told(run) for run in batch.runs if run.status != RunStatus.READY),
        broken=tuple(broken),
        more=again or len(jobs) == limit,
    )


def record_due(using: str, jobs: Iterable[Job], now: datetime, *, no_run_because: str = "") -> None:
    """Give the due instants of jobs that are about to be edited, paused or switched off their rows.

    What came within the last minute still runs, as the plan that was about to see it would have it; what is older
    is MISSED: a change of mind is no reason to catch up. With ``no_run_because`` all of it is MISSED for that reason.
    Within the caller's transaction, which has locked the jobs and saves them: here only their values change.
    """
    due = [job for job in jobs if job.next_run_at is not None and job.next_run_at <= now]
    while due:
        batch = _batch(using, due, now, no_run_because=no_run_because)
        for job in due:
            _plan_or_explain(job, batch, catch_up=CatchUp.NONE)
        _write(using, batch)
        due = [job for job in due if job.next_run_at is not None and job.next_run_at <= now]


def _plan_or_explain(job: Job, batch: Batch, *, catch_up: CatchUp | None = None) -> str:
    """Plan one job into the batch; if it can't be, mark it, take it off the due list, and return why.

    It is known then up to where its instants have rows, so that it goes on from there once it is mended.
    """
    assert job.next_run_at is not None
    try:
        plan_one(job, batch, catch_up=catch_up)
    except Exception as error:  # noqa: BLE001  (a malformed row stops only itself)
        words = str(error) if isinstance(error, ScheduleError) else f"{type(error).__name__}: {error}"
        job.planned_until = job.next_run_at - A_MOMENT
        job.next_run_at, job.schedule_error = None, words
        return words
    return ""


def _batch(using: str, jobs: Sequence[Job], now: datetime, *, no_run_because: str = "") -> Batch:
    return Batch(
        now=now,
        counts=_unfinished_counts(using, jobs),
        calendars=known_calendars(name for job in jobs for name in names_in(job.exclude)),
        recorded=_recorded(using, jobs, now),
        no_run_because=no_run_because,
    )


def _write(using: str, batch: Batch) -> int:
    """Write the rows of a batch; return how many may start."""
    also = replace_unfinished(using, batch.replaced, "replaced by the next instant")
    Run.objects.using(using).bulk_create(batch.runs)
    ready = sum(run.status == RunStatus.READY for run in batch.runs)
    if ready:
        vendor.notify(using, vendor.WAKE_CLAIM, *also)
    return ready


def _unfinished_counts(using: str, jobs: Sequence[Job]) -> Mapping[int, tuple[int, int]]:
    """Return how many runs of each job wait and how many run; jobs without any are left out."""
    ids = [job.pk for job in jobs if job.exclusive]
    if not ids:
        return {}
    rows = (
        overlapping(Run.objects.using(using).filter(job__in=ids))
        .values_list("job_id")
        .annotate(
            waiting=Count("pk", filter=Q(status=RunStatus.READY)),
            running=Count("pk", filter=Q(status=RunStatus.RUNNING)),
        )
        .order_by()
    )
    return {job_id: (waiting, running) for job_id, waiting, running in rows if job_id is not None}


def _recorded(using: str, jobs: Sequence[Job], now: datetime) -> Mapping[int, list[Span]]:
    """Return the instants that are due by the cursor but have a row already, by job; as a rule there are none.

    A backfill may have reached into a pause that is caught up now. A range for each job: the index answers it.
    """
    due = Q()
    for job in jobs:
        due |= Q(job=job.pk, scheduled_for__gte=job.next_run_at, scheduled_for__lte=now)
    spans: dict[int, list[Span]] = {}
    rows = Run.objects.using(using).filter(due).order_by()
    for job_id, first, last in rows.values_list("job_id", "scheduled_for", "scheduled_until"):
        if job_id is not None:
            assert first is not None
            spans.setdefault(job_id, []).append((first, last or first))
    return spans


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
