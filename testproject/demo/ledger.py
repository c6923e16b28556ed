"""Gathers for the oracle: what fell due since the demo began, what became of it, and what the jobs did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import QuerySet

from django_leasejobs.models import FINISHED, Job, Origin, Run, RunStatus
from django_leasejobs.schedules import Schedule, parse
from testproject.shop.models import Effect

from .goods import WAREHOUSE, goods
from .oracle import Findings, Row, judge_effects, judge_instants


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the demo found out at its end."""

    instants: Findings
    effects: Findings
    runs: int
    failed: int
    passed_over: int

    @property
    def lost(self) -> tuple[str, ...]:
        return self.instants.lost + self.effects.lost

    @property
    def doubled(self) -> tuple[str, ...]:
        return self.instants.doubled + self.effects.doubled

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.doubled or self.failed)


@dataclass(slots=True)
class Ledger:
    """The schedules of jobs with their first instant, read before any worker can plan them."""

    _first: dict[str, tuple[Schedule, datetime]] = field(default_factory=dict)

    def enter(self) -> None:
        """Read all jobs that have a next instant and are not in it yet."""
        for job in Job.objects.exclude(next_run_at=None).exclude(name__in=self._first):
            assert job.next_run_at is not None
            schedule = parse(job.schedule, job.timezone, name=job.name, anchor=job.starts_at)
            self._first[job.name] = (schedule, job.next_run_at)

    def is_settled(self, until: datetime) -> bool:
        """Whether all instants up to ``until`` are recorded, and all their runs and those by hand are over."""
        if Job.objects.filter(next_run_at__lte=until).exists():
            return False
        return not _runs(until).exclude(status__in=FINISHED).exists()

    def verdict(self, until: datetime) -> Verdict:
        """Judge all instants up to ``until``; call it when they are settled."""
        runs = list(_runs(until))
        rows = [
            Row(run.job_name, run.scheduled_for, run.scheduled_until or run.scheduled_for, run.instants)
            for run in runs
            if run.origin == Origin.SCHEDULE and run.scheduled_for is not None
        ]
        ran = {run.pk: run for run in runs}
        found = Effect.objects.filter(run_id__in=ran).values_list("run_id", "what")
        return Verdict(
            instants=judge_instants(self._due(until, rows), rows),
            effects=judge_effects({pk: _wanted_effects(run) for pk, run in ran.items()}, found),
            runs=sum(run.started_at is not None for run in runs),
            failed=sum(run.status == RunStatus.FAILED for run in runs),
            passed_over=sum(run.instants for run in runs if run.status in (RunStatus.SKIPPED, RunStatus.MISSED)),
        )

    def _due(self, until: datetime, rows: Iterable[Row]) -> dict[str, list[datetime]]:
        """Return each job's instants up to ``until``, or to the end of a row that stands for later ones as well."""
        ends = dict.fromkeys(self._first, until)
        for row in rows:
            ends[row.job] = max(ends.get(row.job, until), row.last)
        return {name: list(_instants(*self._first[name], ends[name])) for name in self._first}


def _runs(until: datetime) -> QuerySet[Run]:
    return Run.objects.filter(origin=Origin.MANUAL) | Run.objects.filter(scheduled_for__lte=until)


def _instants(schedule: Schedule, first: datetime, until: datetime) -> Iterator[datetime]:
    instant: datetime | None = first
    while instant is not None and instant <= until:
        yield instant
        instant = schedule.next_after(instant)


def _wanted_effects(run: Run) -> list[str]:
    """Return what a run must have left behind: all of it if it was successful, else nothing."""
    if run.status != RunStatus.SUCCESSFUL:
        return []
    if run.task == "shop.reconcile_stock":
        return [f"stock of {WAREHOUSE}"]
    if run.task == "shop.import_catalogue":
        return [f"row {number}" for number in range(1, len(goods()) + 1)]
    return []
