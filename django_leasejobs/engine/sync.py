"""Code-defined jobs become rows; what left the code is disabled, never deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.db import IntegrityError
from django.db.models import Q

from django_leasejobs import vendor
from django_leasejobs.clock import database_now
from django_leasejobs.models import Job, Source
from django_leasejobs.registry import JobDefinition

from .cursor import MOVES_THE_CURSOR, next_instant
from .plan import record_due
from .register import live_workers
from .transactions import alias, in_short_transaction

# What an admin may decide once the row exists, and what is not a column.
NOT_SYNCED = frozenset({"task", "enabled"})
COLUMNS = tuple(item.name for item in fields(JobDefinition) if item.name not in NOT_SYNCED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What a sync changed, or would change, by job name; ``updated`` also by column: what was there, and what is."""

    created: tuple[str, ...] = ()
    updated: Mapping[str, Mapping[str, tuple[Any, Any]]]
    revived: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    kept_for_others: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return bool(self.created or self.updated or self.revived or self.retired)


def sync_jobs(definitions: Iterable[JobDefinition], *, dry_run: bool = False) -> Synced:
    """Bring the job table in line with the code; with ``dry_run`` only say what would change.

    Idempotent, and safe with two deployments at once: a job that this code doesn't define is retired only when no
    live worker's code defines it either. An admin's job of the same name is left alone and reported as a conflict.
    """
    wanted = list(definitions)
    for _ in range(3):
        try:
            return _sync(wanted, dry_run=dry_run)
        except IntegrityError:
            # Another deployment inserted the same job since the look; now its row is there to be compared.
            continue
    return _sync(wanted, dry_run=dry_run)


@in_short_transaction
def _sync(definitions: list[JobDefinition], *, dry_run: bool) -> Synced:
    """Compare and write in one transaction.

    Locks: the rows of all code-defined jobs and of those with a defined name, by key. Beside it: plan (skips them
    meanwhile), other syncs (they wait).
    """
    using = alias()
    now = database_now(using)
    names = {definition.name for definition in definitions}
    rows = Job.objects.using(using).filter(Q(source=Source.CODE) | Q(name__in=names))
    known = {job.name: job for job in vendor.lock(rows.order_by("pk"))}
    updated: dict[str, Mapping[str, tuple[Any, Any]]] = {}
    created, revived = [], []
    for definition in definitions:
        job = known.get(definition.name)
        if job is None:
            created.append(_new_row(definition, now))
        elif job.source == Source.CODE:
            was_retired = job.retired_at is not None
            changes = _update(using, job, definition, now, dry_run=dry_run)
            if was_retired:
                revived.append(job)
            elif changes:
                updated[job.name] = changes
    gone = [job for name, job in known.items() if name not in names and job.retired_at is None]
    elsewhere = {task for worker in live_workers(using) for task in worker.tasks} if gone else set()
    retired = [job for job in gone if job.task not in elsewhere]
    _retire(using, retired, now, dry_run=dry_run)
    if not dry_run:
        _write(using, created, [*revived, *retired, *(known[name] for name in updated)])
    return Synced(
        created=tuple(job.name for job in created),
        updated=updated,
        revived=tuple(job.name for job in revived),
        retired=tuple(job.name for job in retired),
        kept_for_others=tuple(job.name for job in gone if job.task in elsewhere),
        conflicts=tuple(sorted(name for name in names & known.keys() if known[name].source != Source.CODE)),
    )


def _update(
    using: str, job: Job, definition: JobDefinition, now: datetime, *, dry_run: bool
) -> Mapping[str, tuple[Any, Any]]:
    """Let the row say what the code says; return the columns that differed. Nothing of the past is replayed."""
    changes = _changes(definition, job)
    moved = not MOVES_THE_CURSOR.isdisjoint(changes)
    if moved and not dry_run:
        record_due(using, [job], now)
    for column, (_, value) in changes.items():
        setattr(job, column, value)
    if job.retired_at is not None:
        job.retired_at, job.enabled, moved = None, definition.enabled, True
    if moved:
        job.next_run_at = next_instant(job, now)
    return changes


def _retire(using: str, jobs: list[Job], now: datetime, *, dry_run: bool) -> None:
    """Stop following jobs that left the code; a run of what was due until now would find no worker."""
    if not dry_run:
        record_due(using, jobs, now, no_run_because="the job left the code")
    for job in jobs:
        job.retired_at, job.enabled, job.next_run_at = now, False, None


def _values(definition: JobDefinition) -> dict[str, Any]:
    values = {name: getattr(definition, name) for name in COLUMNS}
    values["overlap"], values["catch_up"] = definition.overlap.value, definition.catch_up.value
    return {**values, "task": definition.task.name}


def _new_row(definition: JobDefinition, now: datetime) -> Job:
    job = Job(source=Source.CODE, enabled=definition.enabled, **_values(definition))
    job.next_run_at = next_instant(job, now)
    return job


def _changes(definition: JobDefinition, job: Job) -> dict[str, tuple[Any, Any]]:
    """Return the columns in which the row differs: what is in the row, and what the code says."""
    pairs = {name: (getattr(job, name), value) for name, value in _values(definition).items()}
    return {name: (before, after) for name, (before, after) in pairs.items() if before != after}


def _write(using: str, created: list[Job], changed: list[Job]) -> None:
    Job.objects.using(using).bulk_create(created)
    if changed:
        columns = [*COLUMNS, "task", "enabled", "retired_at", "next_run_at", "planned_until", "schedule_error"]
        Job.objects.using(using).bulk_update(changed, columns)
