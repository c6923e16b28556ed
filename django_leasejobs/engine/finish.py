"""Attempts of this worker ended: their leases go, their outcomes are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.models import Lease, RunStatus
from django_leasejobs.policies.retrying import RetryPolicy

from .claim import Claimed
from .outcomes import Counters, Ending, judge
from .settle import Settlement, settle
from .transactions import alias, in_short_transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of one claimed run, as the worker saw it."""

    run: Claimed
    ending: Ending
    log: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """What was recorded at ``now``, and which reports came too late: of those nothing was written."""

    recorded: tuple[Settlement, ...]
    discarded: tuple[Report, ...]
    now: datetime | None = None

    @property
    def failed_jobs(self) -> frozenset[int]:
        """The jobs with a run that ended FAILED, which may have to be paused."""
        return frozenset(
            item.job_id for item in self.recorded if item.job_id is not None and item.verdict.status == RunStatus.FAILED
        )


@in_short_transaction
def finish_runs(reports: Sequence[Report], *, worker_name: str, rng: Random) -> Finished:
    """End the leases of these reports and record their outcomes.

    Locks: the lease rows by token ascending, then their run rows.
    Beside it: renewals (harmless), reclaim and release (whoever deletes the lease row has the say).
    A report whose lease is gone is in ``Finished.discarded``; nothing of it was written.
    """
    using = alias()
    if not reports:
        return Finished((), ())
    tokens = sorted(report.run.token for report in reports)
    leases = vendor.lock(Lease.objects.using(using).filter(pk__in=tokens).order_by("pk"))
    rows = {
        row["id"]: row
        for row in leases.annotate(now=DatabaseNow()).values(
            "id", "cancel_requested_at", "cancel_reason", "claimed_at", "progress", "now"
        )
    }
    if not rows:
        return Finished((), tuple(reports))
    now = as_utc(next(iter(rows.values()))["now"])
    settlements = []
    for report in reports:
        if (row := rows.get(report.run.token)) is None:
            continue
        asked = row["cancel_reason"] if row["cancel_requested_at"] is not None else None
        verdict = judge(report.ending, counters(report.run), rng, cancel_reason=asked)
        settlements.append(
            Settlement(
                token=report.run.token,
                run_id=report.run.run_id,
                job_id=report.run.job_id,
                job_name=report.run.job_name,
                task=report.run.task,
                worker_name=worker_name,
                attempt=report.run.attempt,
                claimed_at=row["claimed_at"],
                verdict=verdict,
                progress=row["progress"],
                log=report.log,
            )
        )
    settle(using, settlements, now)
    discarded = tuple(report for report in reports if report.run.token not in rows)
    return Finished(tuple(settlements), discarded, now)


def counters(run: Claimed) -> Counters:
    """Return how the run stood when it was claimed; nobody else changes that while its lease stands."""
    policy = RetryPolicy(retries=run.retries, backoff=run.backoff, max_lost=run.max_lost)
    return Counters(failures=run.failures, lost=run.lost, policy=policy)
