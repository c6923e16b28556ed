"""Claims runs for the pool and records how they ended: the hot path, one thread, one connection."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from django.db import DatabaseError

from django_leasejobs import signals
from django_leasejobs.engine.claim import TOO_LATE, Claimed, Claims, claim_runs
from django_leasejobs.engine.finish import Finished, Report, finish_runs, in_plain_words
from django_leasejobs.engine.pause import pause_failing_jobs
from django_leasejobs.engine.progress import record_progress
from django_leasejobs.engine.settle import Settlement
from django_leasejobs.registry import registry
from django_leasejobs.texts import one_line
from django_leasejobs.vendor import is_refusal

from .book import LeaseBook
from .options import WorkerOptions
from .pools.base import Pool
from .ticks import ticks

logger = logging.getLogger("django_leasejobs")

FINISH_BATCH = 500
CONTENDED_PAUSE = 0.02
LONGEST_CONTENDED_PAUSE = 0.25
FOR_EVER = 3600.0


class Dispatcher:
    """Finish what ended, then claim as much as there is room for.

    A slot is free again only when its run's end is committed. Ends that could not be written for a database
    fault stay in the inbox and are tried again; finishing a token twice does no harm.
    """

    def __init__(self, options: WorkerOptions, book: LeaseBook, *, rng: Random) -> None:
        self._options = options
        self._book = book
        self._rng = rng
        self._lock = threading.Lock()
        self._inbox: deque[Report] = deque()
        self._committed: deque[Report] = deque()
        self._progress: dict[int, Any] = {}
        self._claiming = True
        self._contended_pause = CONTENDED_PAUSE
        self._claim_after = 0.0
        self.worker_id: int | None = None
        self.pool: Pool | None = None
        self.wake: Callable[[], None] = lambda: None
        self.on_claimed: Callable[[], None] = lambda: None
        self.claimed_runs = 0

    def ended(self, report: Report) -> None:
        """Take a run's end from the pool."""
        self._inbox.append(report)
        self.wake()

    def committed(self, report: Report) -> None:
        """Take the end of a run that recorded its success itself."""
        self._committed.append(report)
        self.wake()

    def progressed(self, token: int, value: Any) -> None:
        """Take a run's progress; only the newest is written."""
        with self._lock:
            self._progress[token] = value
        self.wake()

    def stop_claiming(self) -> None:
        self._claiming = False

    @property
    def settled(self) -> bool:
        """Whether every end that was reported is in the database."""
        return not self._inbox and not self._committed

    @property
    def used_up(self) -> bool:
        """Whether ``max_runs`` have been claimed."""
        return self._options.max_runs is not None and self.claimed_runs >= self._options.max_runs

    def step(self) -> float:
        """Record progress and ends, then claim; return how long to wait."""
        self._write_progress()
        self._note_committed()
        while self._inbox:
            self._finish(list(self._inbox)[:FINISH_BATCH])
        if not self._claiming or self.used_up:
            return FOR_EVER
        pause = self._claim_after - ticks()
        return pause if pause > 0 else self._claim()

    def _write_progress(self) -> None:
        with self._lock:
            progress, self._progress = self._progress, {}
        if not progress:
            return
        try:
            record_progress(progress)
        except DatabaseError as error:
            if not is_refusal(error):
                raise
            # One job's words must not keep the ends of all others from being written.
            logger.warning("Progress of %s runs is not shown: %s", len(progress), one_line(error))

    def _note_committed(self) -> None:
        while self._committed:
            report = self._committed.popleft()
            self._book.drop([report.run.token])
            _send_finished(report.run, "SUCCESSFUL", self._options.name)

    def _finish(self, reports: Sequence[Report]) -> None:
        self._book.finishing(report.run.token for report in reports)
        try:
            finished = finish_runs(reports, worker_name=self._options.name, rng=self._rng)
        except DatabaseError as error:
            if not is_refusal(error):
                raise
            if len(reports) > 1:
                for report in reports:
                    self._finish([report])
                return
            finished = self._finish_in_plain_words(reports[0], one_line(error))
        for _ in reports:
            self._inbox.popleft()
        self._book.drop(report.run.token for report in reports)
        self._tell(finished)
        if finished.failed_jobs:
            for name, reason in pause_failing_jobs(finished.failed_jobs).items():
                signals.job_paused.send_robust(None, job_name=name, reason=reason)

    def _finish_in_plain_words(self, report: Report, why: str) -> Finished:
        """Record an end that the database refuses, as it would each time, in words that it takes."""
        logger.error("The end of run id=%s is recorded in plain words: %s", report.run.run_id, why)
        return finish_runs([in_plain_words(report, why)], worker_name=self._options.name, rng=self._rng)

    def _tell(self, finished: Finished) -> None:
        for item in finished.recorded:
            tell_settled(item, self._options.name, finished)
        for report in finished.discarded:
            tell_lost(report.run, self._options.name, "discarded")

    def _claim(self) -> float:
        assert self.pool is not None
        room = self.pool.free()
        if self._options.max_runs is not None:
            room = min(room, self._options.max_runs - self.claimed_runs)
        if room <= 0:
            return FOR_EVER
        started = ticks()
        claims = claim_runs(
            worker_id=self.worker_id,
            worker_name=self._options.name,
            queues=self._options.queues,
            tasks=registry.tasks.keys(),
            limit=room,
        )
        if claims.runs:
            self._book.add(claims.runs, started)
            self.on_claimed()
            self.claimed_runs += len(claims.runs)
            for run in claims.runs:
                signals.run_started.send_robust(None, run=run, worker=self._options.name)
            self.pool.submit(claims.runs)
        for late in claims.missed:
            signals.job_missed.send_robust(
                None,
                job_name=late.job_name,
                first=late.instant,
                last=late.instant,
                count=1,
                reason=TOO_LATE,
                status="MISSED",
            )
        return self._pause_after(claims, room)

    def _pause_after(self, claims: Claims, room: int) -> float:
        if claims.missed or claims.cancelled:
            return 0.0
        if claims.contended and not claims.runs:
            # Rows are locked (a plan, somebody's open transaction): whatever wakes this meanwhile, it waits.
            self._contended_pause = min(LONGEST_CONTENDED_PAUSE, self._contended_pause * 2)
            pause = self._contended_pause * self._rng.uniform(0.5, 1.0)
            self._claim_after = ticks() + pause
            return pause
        self._contended_pause = CONTENDED_PAUSE
        if claims.contended:
            return CONTENDED_PAUSE
        return 0.0 if len(claims.runs) == room and self.pool is not None and self.pool.free() > 0 else FOR_EVER


def tell_settled(item: Settlement, worker: str, finished: Finished) -> None:
    """Send the signal of one recorded end."""
    assert finished.now is not None
    signals.run_finished.send_robust(
        None,
        run_id=item.run_id,
        job_name=item.job_name,
        task=item.task,
        status=str(item.verdict.status),
        attempt=item.attempt,
        token=item.token,
        worker=worker,
        retry_at=item.retry_at(finished.now),
        error=item.words,
    )


def _send_finished(run: Claimed, status: str, worker: str) -> None:
    signals.run_finished.send_robust(
        None,
        run_id=run.run_id,
        job_name=run.job_name,
        task=run.task,
        status=status,
        attempt=run.attempt,
        token=run.token,
        worker=worker,
        retry_at=None,
        error="",
    )


def tell_lost(run: Claimed, worker: str, outcome: str) -> None:
    """Send the signal of one lease that this worker no longer has."""
    signals.lease_lost.send_robust(
        None, run_id=run.run_id, job_name=run.job_name, task=run.task, token=run.token, worker=worker, outcome=outcome
    )
