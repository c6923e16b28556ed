"""Attempts of this worker ended: their leases go, their outcomes are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Any

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.models import Attempt, Lease, Run, RunStatus
from django_leasejobs.policies.retrying import RetryPolicy

from .claim import Claimed
from .outcomes import Counters, Ending, Raised, Succeeded, judge
from .settle import Settlement, settle, settlement_of
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
    A report whose lease is gone is in ``Finished.discarded``: its run is left as it is, the record of its attempt
    says so. A success that was recorded before, by a commit whose answer was lost, is neither.
    """
    using = alias()
    if not reports:
        return Finished((), ())
    tokens = sorted(report.run.token for report in reports)
    leases = vendor.lock(Lease.objects.using(using).filter(pk__in=tokens).order_by("pk"))
    rows = {
        row["id"]: row
        for row in leases.annotate(now=DatabaseNow()).values(
            "id", "cancel_requested_at", "cancel_reason", "progress", "now"
        )
    }
    discarded = _set_aside(using, [report for report in reports if report.run.token not in rows])
    if not rows:
        return Finished((), discarded)
    now = as_utc(next(iter(rows.values()))["now"])
    settlements = tuple(
        _settlement(report, rows[report.run.token], worker_name, rng) for report in reports if report.run.token in rows
    )
    settle(using, settlements, now)
    return Finished(settlements, discarded, now)


def _settlement(report: Report, lease: dict[str, Any], worker_name: str, rng: Random) -> Settlement:
    run = report.run
    asked = lease["cancel_reason"] if lease["cancel_requested_at"] is not None else None
    verdict = judge(report.ending, counters(run), rng, cancel_reason=asked)
    return settlement_of(run, verdict, worker_name=worker_name, progress=lease["progress"], log=report.log)


def _set_aside(using: str, late: Sequence[Report]) -> tuple[Report, ...]:
    """Note the results that came too late with their attempts; return their reports."""
    if not late:
        return ()
    recorded = recorded_successes({report.run.token: report.run.run_id for report in late})
    discarded = tuple(report for report in late if report.run.token not in recorded)
    if discarded:
        attempts = Attempt.objects.using(using).filter(token__in=[report.run.token for report in discarded])
        attempts.update(late_result_at=DatabaseNow())
    return discarded


def recorded_successes(run_ids: Mapping[int, int]) -> frozenset[int]:
    """Return those of these tokens, given with their run ids, under which a success is on record.

    An ``atomic`` job records its own; a commit may have succeeded although its answer was lost. One statement, no lock.
    """
    done = Run.objects.using(alias()).filter(pk__in=run_ids.values(), token__in=run_ids, status=RunStatus.SUCCESSFUL)
    return frozenset(token for token in done.values_list("token", flat=True) if token is not None)


def in_plain_words(report: Report, why: str) -> Report:
    """Return the report with no result and in ASCII only, for a database that refused what there was to record."""
    ending = report.ending
    match ending:
        case Succeeded():
            ending = Succeeded()
        case Raised():
            ending = replace(ending, error=_ascii(ending.error), traceback=_ascii(ending.traceback))
        case _:
            ending = replace(ending, reason=_ascii(ending.reason))
    lines = [report.log, f"The database refused what there was to record, only this is kept: {why}"]
    return replace(report, ending=ending, log=_ascii("\n".join(filter(None, lines))))


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def counters(run: Claimed) -> Counters:
    """Return how the run stood when it was claimed; nobody else changes that while its lease stands."""
    policy = RetryPolicy(retries=run.retries, backoff=run.backoff, max_lost=run.max_lost)
    return Counters(failures=run.failures, lost=run.lost, policy=policy)
