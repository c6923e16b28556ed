"""Jobs that come from somewhere else, such as a crontab, become rows of the admin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError

from django_leasejobs import vendor
from django_leasejobs.clock import database_now
from django_leasejobs.conf import get_settings
from django_leasejobs.models import Job, Source

from .cursor import next_instant
from .transactions import alias, in_short_transaction

WHAT_IT_MEANS = ("task", "arguments", "keyword arguments", "schedule", "time zone")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job as it is to be. Which one it is, is said by its name, or by all but its name and description."""

    name: str
    task: str
    args: Sequence[Any]
    schedule: str
    timezone: str
    description: str = ""

    @property
    def meaning(self) -> tuple[object, ...]:
        return self.task, list(self.args), {}, self.schedule, self.timezone


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of a new job: ``created`` or not, under which name, and why not."""

    name: str
    created: bool
    reason: str = ""
    same: bool = False


def import_jobs(jobs: Sequence[NewJob], *, dry_run: bool = False) -> tuple[Placed, ...]:
    """Insert those of ``jobs`` that are not there yet; say in their order what became of each. All or none.

    A job that means the same under whatever name is left as it is, and so is one of the same name that means
    something else: a person may have changed it. Importing twice therefore changes nothing.
    """
    try:
        return _import(jobs, dry_run=dry_run)
    except IntegrityError:
        # Somebody else inserted a job of one of the names since the look; now its row is there to be compared.
        return _import(jobs, dry_run=dry_run)


@in_short_transaction
def _import(jobs: Sequence[NewJob], *, dry_run: bool) -> tuple[Placed, ...]:
    """Compare and write in one transaction.

    Locks: the rows of the tasks and names concerned, by key. Beside it: plan (skips them meanwhile).
    """
    using = alias()
    now = database_now(using)
    rows = Job.objects.using(using)
    concerned = rows.filter(task__in={job.task for job in jobs}) | rows.filter(name__in={job.name for job in jobs})
    known = list(vendor.lock(concerned.order_by("pk")))
    by_name = {job.name: job for job in known}
    created: list[Job] = []
    placed = []
    for job in jobs:
        answer = _place(job, known, by_name)
        placed.append(answer)
        if answer.created:
            row = _row(job, now)
            created.append(row)
            known.append(row)
            by_name[row.name] = row
    if created and not dry_run:
        Job.objects.using(using).bulk_create(created)
    return tuple(placed)


def _place(job: NewJob, known: Sequence[Job], by_name: Mapping[str, Job]) -> Placed:
    same = next((row for row in known if _meaning(row) == job.meaning), None)
    if same is not None:
        return Placed(same.name, created=False, same=True)
    other = by_name.get(job.name)
    if other is None:
        return Placed(job.name, created=True)
    differs = [
        f"{what} {theirs!r}, not {ours!r}"
        for what, theirs, ours in zip(WHAT_IT_MEANS, _meaning(other), job.meaning, strict=True)
        if theirs != ours
    ]
    return Placed(job.name, created=False, reason=f"the job of this name has {', '.join(differs)}")


def _meaning(row: Job) -> tuple[object, ...]:
    return row.task, row.args, row.kwargs, row.schedule, row.timezone


def _row(job: NewJob, now: datetime) -> Job:
    row = Job(
        name=job.name,
        description=job.description,
        task=job.task,
        args=list(job.args),
        schedule=job.schedule,
        timezone=job.timezone,
        lease=get_settings().LEASE,
        source=Source.ADMIN,
    )
    row.next_run_at = next_instant(row, now)
    return row
