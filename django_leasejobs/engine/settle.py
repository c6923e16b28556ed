"""Ends leases and writes what their runs came to: the shared second half of finish, reclaim and release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django_leasejobs.models import Attempt, Lease, Run, RunStatus

from .claim import Claimed
from .outcomes import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """One ended lease with the verdict on its run."""

    token: int
    run_id: int
    job_id: int | None
    job_name: str
    task: str
    worker_name: str
    attempt: int
    claimed_at: datetime
    verdict: Verdict
    progress: Any = None
    log: str = ""

    @property
    def words(self) -> str:
        """What went wrong, in one line; nothing for a success."""
        error, reason = self.verdict.error, self.verdict.reason
        if not error or error in reason:
            return reason
        return f"{error} ({reason})" if reason else error

    def retry_at(self, now: datetime) -> datetime | None:
        """When the run may start again; None when it is over."""
        return now + self.verdict.delay if self.verdict.status == RunStatus.READY else None


WRITTEN = (
    "status", "failures", "lost", "reason", "error", "traceback", "log", "result", "progress",
    "available_at", "finished_at",
)  # fmt: skip


def settlement_of(run: Claimed, verdict: Verdict, *, worker_name: str, progress: Any, log: str) -> Settlement:
    """Build the settlement of a run from what its holder was given when it claimed it."""
    return Settlement(
        token=run.token,
        run_id=run.run_id,
        job_id=run.job_id,
        job_name=run.job_name,
        task=run.task,
        worker_name=worker_name,
        attempt=run.attempt,
        claimed_at=run.claimed_at,
        verdict=verdict,
        progress=progress,
        log=log,
    )


def settle(using: str, settlements: Sequence[Settlement], now: datetime) -> None:
    """Delete the leases, update the runs, and record the attempts. The caller holds the locks.

    Five statements at most, however many there are (SQLite splits those past its parameter limit).
    """
    if not settlements:
        return
    Lease.objects.using(using).filter(pk__in=[item.token for item in settlements]).delete()
    plain = [item.run_id for item in settlements if item.verdict.plain and not item.log and item.progress is None]
    if plain:
        Run.objects.using(using).filter(pk__in=plain).update(
            status=RunStatus.SUCCESSFUL, finished_at=now, reason="", error="", traceback="", log="", result=None
        )
    others = [item for item in settlements if item.run_id not in set(plain)]
    if others:
        Run.objects.using(using).bulk_update([_row(item, now) for item in others], WRITTEN)
    attempts = [_attempt(item, now) for item in settlements if item.verdict.outcome is not None]
    if attempts:
        Attempt.objects.using(using).bulk_create(attempts)


def _row(item: Settlement, now: datetime) -> Run:
    verdict = item.verdict
    return Run(
        pk=item.run_id,
        status=verdict.status,
        failures=verdict.failures,
        lost=verdict.lost,
        reason=verdict.reason,
        error=verdict.error,
        traceback=verdict.traceback,
        log=item.log,
        result=verdict.result,
        progress=item.progress,
        available_at=item.retry_at(now) or now,
        finished_at=None if verdict.status == RunStatus.READY else now,
    )


def _attempt(item: Settlement, now: datetime) -> Attempt:
    verdict = item.verdict
    assert verdict.outcome is not None
    return Attempt(
        run_id=item.run_id,
        token=item.token,
        number=item.attempt,
        outcome=verdict.outcome,
        worker_name=item.worker_name,
        started_at=item.claimed_at,
        ended_at=now,
        error=verdict.error or verdict.reason,
        traceback=verdict.traceback,
        log=item.log,
    )
