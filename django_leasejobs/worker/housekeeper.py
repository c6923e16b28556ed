"""Looks what is due, plans, reclaims, prunes: one thread, one connection; idle it costs a statement each poll."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

from django_leasejobs import signals
from django_leasejobs.conf import get_settings
from django_leasejobs.engine.look import Outlook, look_ahead
from django_leasejobs.engine.mend import mend_jobs
from django_leasejobs.engine.plan import Planned, plan_jobs
from django_leasejobs.engine.prune import prune_runs
from django_leasejobs.engine.reclaim import reclaim_leases
from django_leasejobs.engine.register import forget_dead_workers
from django_leasejobs.engine.sync import Synced, sync_jobs
from django_leasejobs.registry import registry

from .options import WorkerOptions
from .ticks import ticks

logger = logging.getLogger("django_leasejobs")

PRUNE_BATCH = 1000
MOST_NAMED = 20
CHORES_EVERY = 60.0
SHORTEST_WAIT = 0.002
STUCK_WAIT = 0.25


class Housekeeper:
    """No worker is special: each does all of this, and row locks divide the work."""

    def __init__(self, options: WorkerOptions, *, rng: Random, wake_dispatcher: Callable[[], None]) -> None:
        self._options = options
        self._rng = rng
        self._wake_dispatcher = wake_dispatcher
        self._next_chores = ticks() + CHORES_EVERY * rng.uniform(0.5, 1.5)
        self.outlook: Outlook | None = None
        self.clock_offset: timedelta | None = None
        self.looks = 0

    def step(self) -> float:
        """Do what is due; return how long nothing can become due, at most the poll interval."""
        local = time.time()
        outlook = look_ahead(queues=self._options.queues, tasks=registry.tasks.keys())
        self.clock_offset = datetime.fromtimestamp(local, UTC) - outlook.now
        busy = False
        if outlook.can_plan and self._options.schedule:
            busy = self._tell_planned(plan_jobs()).jobs > 0
        if outlook.can_reclaim:
            busy = self._reclaim() or busy
        if outlook.can_claim:
            self._wake_dispatcher()
        self.outlook, self.looks = outlook, self.looks + 1
        if busy:
            return 0.0
        self._do_chores()
        return self._wait(outlook)

    def _wait(self, outlook: Outlook) -> float:
        if not self._options.schedule:
            outlook = replace(outlook, next_plan=None)
        next_in = outlook.seconds_until_next()
        if next_in is None:
            return self._options.poll_interval
        if next_in == 0:
            # Due, but locked by somebody else: they are at it.
            next_in = STUCK_WAIT * self._rng.uniform(0.5, 1.0)
        return min(self._options.poll_interval, max(SHORTEST_WAIT, next_in + SHORTEST_WAIT))

    def _tell_planned(self, planned: Planned) -> Planned:
        for missed in planned.missed:
            signals.job_missed.send_robust(
                None,
                job_name=missed.job_name,
                first=missed.first,
                last=missed.last,
                count=missed.count,
                reason=missed.reason,
                status=str(missed.status),
            )
        for name, reason in planned.broken:
            signals.job_broken.send_robust(None, job_name=name, reason=reason)
        if planned.runs:
            self._wake_dispatcher()
        return planned

    def _reclaim(self) -> bool:
        reclaimed = reclaim_leases(rng=self._rng)
        for item in reclaimed.settlements:
            signals.lease_lost.send_robust(
                None,
                run_id=item.run_id,
                job_name=item.job_name,
                task=item.task,
                token=item.token,
                worker=item.worker_name,
                outcome="reclaimed",
                status=str(item.verdict.status),
                reason=item.verdict.reason,
            )
        return bool(reclaimed.settlements)

    def _do_chores(self) -> None:
        """Prune history, forget dead workers, sync with the code, and mend what stopped, about once a minute."""
        if ticks() < self._next_chores:
            return
        if prune_runs(get_settings().RETENTION, limit=PRUNE_BATCH) == PRUNE_BATCH:
            return  # there may be more: next time round
        forget_dead_workers()
        if self._options.sync:
            sync_with_code()
        if self._options.schedule:
            mend_jobs()
        self._next_chores = ticks() + CHORES_EVERY * self._rng.uniform(0.75, 1.25)


def sync_with_code() -> Synced:
    """Bring the job table in line with this process's code; log which jobs that changed."""
    synced = sync_jobs(registry.jobs.values())
    if synced.changes:
        logger.info(
            "Jobs synced created=%s updated=%s revived=%s retired=%s",
            _counted(synced.created), _counted(synced.updated), _counted(synced.revived), _counted(synced.retired),
        )  # fmt: skip
    return synced


def _counted(names: Collection[str]) -> str:
    """Write how many there are and their names, as far as one line may hold them."""
    if not names:
        return "0"
    named = sorted(names)[:MOST_NAMED]
    more = len(names) - len(named)
    return f"{len(names)} ({', '.join(named)}{f' and {more} more' if more else ''})"
