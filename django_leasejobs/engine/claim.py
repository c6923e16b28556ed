"""READY runs become RUNNING under a lease of this worker."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.models import Job, Lease, Origin, Run, RunStatus

from .transactions import alias, in_short_transaction

TOO_LATE = "could not start within its start deadline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A run as its worker holds it: all that executing and ending it needs, so that nothing is read again."""

    token: int
    run_id: int
    job_id: int | None
    job_name: str
    task: str
    args: list[Any]
    kwargs: dict[str, Any]
    state: Any
    origin: str
    queue: str
    scheduled_for: datetime | None
    available_at: datetime
    claimed_at: datetime
    lease: timedelta
    timeout: timedelta | None
    retries: int
    backoff: timedelta
    max_lost: int
    failures: int
    lost: int

    @property
    def attempt(self) -> int:
        return self.failures + self.lost + 1


@dataclass(frozen=True, slots=True)
class Late:
    """A run that a claim found past its start deadline, now MISSED."""

    run_id: int
    job_name: str
    instant: datetime


@dataclass(frozen=True, slots=True)
class Claims:
    """What a claim got. ``contended``: some of what it looked at could not be started, so others may: look again."""

    runs: tuple[Claimed, ...] = ()
    missed: tuple[Late, ...] = ()
    cancelled: tuple[int, ...] = ()
    contended: bool = False


COLUMNS = (
    "id", "job_id", "job_name", "task", "args", "kwargs", "state", "origin", "queue", "scheduled_for", "available_at",
    "lease_duration", "timeout", "retries", "backoff", "max_lost", "failures", "lost", "exclusive", "start_before",
    "started_at",
)  # fmt: skip


def claimable(using: str, queues: Collection[str], tasks: Collection[str] | None) -> QuerySet[Run]:
    """Select the runs that may start now, first the one to start first.

    ``queues`` empty means all queues. ``tasks`` are the names this worker's code knows: a run of another is left
    for a worker that knows it (a rolling deploy). A run of an exclusive job waits while another holds the lease.
    """
    held = Lease.objects.using(using).filter(exclusive_job_id=OuterRef("job_id"))
    runs = Run.objects.using(using).filter(
        Q(exclusive=False) | ~Exists(held), status=RunStatus.READY, available_at__lte=DatabaseNow()
    )
    if tasks is not None:
        runs = runs.filter(task__in=sorted(tasks))
    if len(queues) == 1:
        runs = runs.filter(queue=next(iter(queues)))
    elif queues:
        runs = runs.filter(queue__in=sorted(queues))
    return runs.order_by(F("priority").desc(), "available_at", "id")


def claim_runs(
    *, worker_id: int | None, worker_name: str, queues: Collection[str], tasks: Collection[str], limit: int
) -> Claims:
    """Take leases on up to ``limit`` runs that may start now, by priority, then the longest waiting."""
    try:
        return _claim(worker_id, worker_name, queues, tasks, limit)
    except IntegrityError:
        # Another session's lease could not be seen yet, as under REPEATABLE READ; the unique index knew of it.
        return Claims(contended=True)


@in_short_transaction
def _claim(
    worker_id: int | None, worker_name: str, queues: Collection[str], tasks: Collection[str], limit: int
) -> Claims:
    """Claim in one transaction.

    Locks: READY run rows, then the rows of their exclusive jobs, each skipping what is locked elsewhere.
    Beside it: other claims (they get other runs), plan and trigger (they hold the job row, so its runs are left
    for the next look), cancel and reclaim (they touch no READY row that is locked here).
    A run past its start deadline that never started becomes MISSED, one whose job was deleted CANCELLED; neither
    is returned in ``runs``.
    """
    using = alias()
    rows = list(
        vendor.lock(claimable(using, queues, tasks), skip_locked=True)
        .annotate(now=DatabaseNow())
        .values(*COLUMNS, "now")[:limit]
    )
    if not rows:
        return Claims()
    now = as_utc(rows[0]["now"])
    late = [row for row in rows if _too_late(row, now)]
    orphaned = [row for row in rows if row["job_id"] is None and row["origin"] != Origin.TASK]
    over = {row["id"] for row in (*late, *orphaned)}
    startable = _one_for_each_exclusive_job(using, [row for row in rows if row["id"] not in over])
    _end(using, late, RunStatus.MISSED, TOO_LATE, now)
    cancelled = _end(using, orphaned, RunStatus.CANCELLED, "its job was deleted", now)
    tokens = _take_leases(using, startable, worker_id, now)
    if tokens:
        _mark_running(using, list(tokens), worker_name)
    return Claims(
        runs=tuple(_claimed(row, tokens[row["id"]], now) for row in startable),
        missed=tuple(Late(row["id"], row["job_name"], row["scheduled_for"] or row["available_at"]) for row in late),
        cancelled=cancelled,
        contended=len(startable) < len(rows),
    )


def _too_late(row: dict[str, Any], now: datetime) -> bool:
    """Tell whether a run missed its start deadline; one that started in time is late only for its retry."""
    return row["start_before"] is not None and row["start_before"] < now and row["started_at"] is None


def _one_for_each_exclusive_job(using: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the first run of each exclusive job whose row could be locked and that has no lease by now.

    The lease is looked for again under the job's lock: another claim may have committed since the first look.
    """
    wanted = {row["job_id"] for row in rows if row["exclusive"]}
    if not wanted:
        return list(rows)
    locked = vendor.lock(Job.objects.using(using).filter(pk__in=wanted).order_by("pk"), skip_locked=True)
    free = set(locked.values_list("pk", flat=True))
    free -= set(Lease.objects.using(using).filter(exclusive_job_id__in=free).values_list("exclusive_job_id", flat=True))
    kept = []
    for row in rows:
        if row["exclusive"]:
            if row["job_id"] not in free:
                continue
            free.discard(row["job_id"])
        kept.append(row)
    return kept


def _end(using: str, rows: Sequence[dict[str, Any]], status: RunStatus, reason: str, now: datetime) -> tuple[int, ...]:
    ids = tuple(row["id"] for row in rows)
    if ids:
        Run.objects.using(using).filter(pk__in=ids).update(status=status, reason=reason, finished_at=now)
    return ids


def _take_leases(using: str, rows: Sequence[dict[str, Any]], worker_id: int | None, now: datetime) -> dict[int, int]:
    """Insert a lease for each run; return the tokens by run."""
    leases = [
        Lease(
            run_id=row["id"],
            exclusive_job_id=row["job_id"] if row["exclusive"] else None,
            worker_id=worker_id,
            duration=row["lease_duration"],
            claimed_at=now,
            renewed_at=now,
            expires_at=now + row["lease_duration"],
        )
        for row in rows
    ]
    created = Lease.objects.using(using).bulk_create(leases)
    if not created or vendor.returns_keys(using):
        return {lease.run_id: lease.pk for lease in created}
    return dict(Lease.objects.using(using).filter(run_id__in=[row["id"] for row in rows]).values_list("run_id", "id"))


def _mark_running(using: str, run_ids: Sequence[int], worker_name: str) -> None:
    token = Lease.objects.using(using).filter(run_id=OuterRef("pk")).values("id")[:1]
    Run.objects.using(using).filter(pk__in=run_ids).update(
        status=RunStatus.RUNNING,
        token=Subquery(token),
        worker_name=worker_name,
        started_at=Coalesce(F("started_at"), DatabaseNow()),
        last_attempted_at=DatabaseNow(),
    )


def _claimed(row: dict[str, Any], token: int, now: datetime) -> Claimed:
    return Claimed(
        token=token,
        run_id=row["id"],
        job_id=row["job_id"],
        job_name=row["job_name"],
        task=row["task"],
        args=row["args"],
        kwargs=row["kwargs"],
        state=row["state"],
        origin=row["origin"],
        queue=row["queue"],
        scheduled_for=row["scheduled_for"],
        available_at=row["available_at"],
        claimed_at=now,
        lease=row["lease_duration"],
        timeout=row["timeout"],
        retries=row["retries"],
        backoff=row["backoff"],
        max_lost=row["max_lost"],
        failures=row["failures"],
        lost=row["lost"],
    )
