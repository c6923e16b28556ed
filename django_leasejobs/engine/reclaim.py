"""Expired leases end, and their runs are taken up again or given up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.models import Lease, Run
from django_leasejobs.policies.retrying import RetryPolicy

from .outcomes import Counters, Died, Ending, HandedBack, judge
from .settle import Settlement, settle
from .transactions import alias, in_short_transaction

LEASE_COLUMNS = ("id", "run_id", "claimed_at", "expires_at", "cancel_requested_at", "cancel_reason", "progress")
RUN_COLUMNS = ("id", "job_id", "job_name", "task", "worker_name", "failures", "lost", "retries", "backoff", "max_lost")


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """The leases that were ended, and the database's time of it."""

    settlements: tuple[Settlement, ...] = ()
    now: datetime | None = None


@in_short_transaction
def reclaim_leases(*, rng: Random, limit: int = 100) -> Reclaimed:
    """End up to ``limit`` expired leases, the longest expired first; count each as lost.

    Locks: the expired lease rows, then their run rows, each skipping what is locked elsewhere: a run that is
    locked is inside ``guard()`` or being finished, and its lease must not be taken meanwhile.
    Beside it: other reclaims (they get other leases), renew and finish (first come, first served).
    """
    using = alias()
    expired = Lease.objects.using(using).filter(expires_at__lt=DatabaseNow()).order_by("expires_at")
    locked = vendor.lock(expired, skip_locked=True).annotate(now=DatabaseNow())
    return end_leases(using, list(locked.values(*LEASE_COLUMNS, "now")[:limit]), None, rng)


def end_leases(using: str, leases: list[dict[str, Any]], ending: Ending | None, rng: Random) -> Reclaimed:
    """End leases that the caller has locked; ``ending`` None means that they expired."""
    if not leases:
        return Reclaimed()
    now = as_utc(leases[0]["now"])
    ids = [lease["run_id"] for lease in leases]
    locked = vendor.lock(Run.objects.using(using).filter(pk__in=ids).order_by("pk"), skip_locked=True)
    runs = {row["id"]: row for row in locked.values(*RUN_COLUMNS)}
    settlements = tuple(
        _settlement(lease, runs[lease["run_id"]], ending or _expired(lease, runs[lease["run_id"]]), rng)
        for lease in leases
        if lease["run_id"] in runs
    )
    settle(using, settlements, now)
    return Reclaimed(settlements, now)


@in_short_transaction
def release_lease(token: int, *, reason: str, rng: Random) -> Reclaimed:
    """End one lease because a person decided that its worker is gone; the run is READY again, no attempt burned.

    The old token is worthless from then on. Returns nothing settled when the lease is gone already, or when its
    run is locked inside a ``guard()``.
    Locks: the lease row, then its run row. Beside it: as for ``reclaim_leases``.
    """
    using = alias()
    lease = vendor.lock(Lease.objects.using(using).filter(pk=token)).annotate(now=DatabaseNow())
    return end_leases(using, list(lease.values(*LEASE_COLUMNS, "now")), HandedBack(reason), rng)


def _expired(lease: dict[str, Any], run: dict[str, Any]) -> Died:
    return Died(
        f"the lease of {run['worker_name']} expired at {as_utc(lease['expires_at']).isoformat(timespec='milliseconds')}"
    )


def _settlement(lease: dict[str, Any], run: dict[str, Any], ending: Ending, rng: Random) -> Settlement:
    policy = RetryPolicy(retries=run["retries"], backoff=run["backoff"], max_lost=run["max_lost"])
    counters = Counters(failures=run["failures"], lost=run["lost"], policy=policy)
    asked = lease["cancel_reason"] if lease["cancel_requested_at"] is not None else None
    return Settlement(
        token=lease["id"],
        run_id=run["id"],
        job_id=run["job_id"],
        job_name=run["job_name"],
        task=run["task"],
        worker_name=run["worker_name"],
        attempt=counters.attempt,
        claimed_at=lease["claimed_at"],
        verdict=judge(ending, counters, rng, cancel_reason=asked),
        progress=lease["progress"],
    )
