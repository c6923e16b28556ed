"""The worker: builds its parts, starts and stops them in the right order, and watches over its pool."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from random import Random

from django.db import connections

from django_leasejobs import vendor
from django_leasejobs.engine.mend import mend_jobs
from django_leasejobs.engine.register import deregister_worker, register_worker
from django_leasejobs.engine.transactions import alias

from .book import LeaseBook
from .dispatcher import Dispatcher, tell_lost
from .housekeeper import Housekeeper, sync_with_code
from .listener import Listener
from .loop import Loop
from .options import WorkerOptions
from .pools import make_pool
from .pools.base import PoolEvents
from .renewer import Renewer
from .shutdown import StopRequests
from .ticks import ticks

logger = logging.getLogger("django_leasejobs")

WATCH = 0.5
LAST_WRITES = 5.0
DEFECTIVE = 1
# Each statement is bounded by the server and tried a few times: a step that takes longer waits for a dead line.
STUCK_AFTER = 120.0


class JobWorker:
    """One ``run_job_worker``.

    The main thread watches over the pool, the trust in the leases and the stop signals, and never waits for the
    database; loops of their own do everything that does.
    """

    def __init__(self, options: WorkerOptions) -> None:
        self.options = options
        self._rng = Random()  # noqa: S311
        self._book = LeaseBook()
        self._stops = StopRequests()
        identity = options.identity()
        self._dispatcher = Dispatcher(options, self._book, rng=self._rng)
        self._housekeeper = Housekeeper(options, rng=self._rng, wake_dispatcher=self._wake_dispatcher)
        self._renewer = Renewer(
            identity, self._book, on_lost=self._lost, on_cancel=self._cancel, on_registered=self._registered
        )
        events = PoolEvents(
            ended=self._dispatcher.ended,
            committed=self._dispatcher.committed,
            progress=self._dispatcher.progressed,
            room=self._wake_dispatcher,
        )
        self._pool = self._dispatcher.pool = make_pool(options, events)
        self._loops = self._make_loops()
        self._dispatcher.wake = self._wake_dispatcher
        self._dispatcher.on_claimed = self._renew_in_time
        self._identity = identity
        self._drained_look: int | None = None

    def run(self) -> int:
        """Work until stopped, drained or used up; return the exit status."""
        try:
            return self._run()
        except BaseException:
            # Children that live on would keep this process waiting for them, with loops that go on renewing.
            self._pool.stop("its worker met a defect")
            raise

    def _run(self) -> int:
        self._stops.install()
        if self.options.sync:
            self._sync()
        if self.options.schedule:
            mend_jobs()
        self._registered(register_worker(self._identity))
        connections.close_all()
        self._pool.start()
        for loop in self._loops.values():
            loop.start()
        logger.info("Worker %s started queues=%s", self.options.name, ",".join(self.options.queues) or "all")
        while not self._stops.asked and not self._is_done() and not self._is_stuck():
            self._watch(WATCH)
        return self._shut_down()

    def _make_loops(self) -> dict[str, Loop]:
        loops = {
            "renew": Loop("renew", self._renewer.step),
            "dispatch": Loop("dispatch", self._dispatcher.step),
            "look": Loop("look", self._look),
        }
        if self.options.notify and vendor.can_listen(alias()):
            listener = Listener(on_work=self._wake_look, on_cancel=self._look_for_cancels)
            loops["listen"] = Loop("listen", listener.step)
        return loops

    def _sync(self) -> None:
        for name in sync_with_code().conflicts:
            logger.error("Job %s is defined in code and in the admin; the admin's row is left as it is", name)

    def _watch(self, longest: float) -> None:
        """Give up what can't be trusted, then let the pool work until something needs a look."""
        self._give_up_distrusted()
        distrust = self._book.next_distrust()
        wait = longest if distrust is None else min(longest, max(0.0, distrust - ticks()))
        self._pool.watch(wait)

    def _give_up_distrusted(self) -> None:
        """Stop the work of leases that may be taken over from now on, before anything else is done (I5)."""
        stale = self._book.drop_distrusted(ticks())
        if stale:
            self._pool.abandon([run.token for run in stale])
            for run in stale:
                tell_lost(run, self.options.name, "distrusted")

    def _is_stuck(self) -> bool:
        """Whether a loop hangs in a statement whose answer never comes; a new process has new connections."""
        for name, loop in self._loops.items():
            if name != "listen" and loop.busy_for > STUCK_AFTER:
                logger.error("Loop %s has had no answer from the database for %.0f s", name, loop.busy_for)
                return True
        return False

    def _is_done(self) -> bool:
        if self._dispatcher.used_up:
            return self._pool.busy() == 0 and self._dispatcher.settled
        return self.options.drain and self._is_drained()

    def _is_drained(self) -> bool:
        """Whether a look that began after the last run ended found nothing due."""
        if self._pool.busy() or not self._dispatcher.settled or len(self._book):
            self._drained_look = None
            return False
        if self._drained_look is None:
            self._drained_look = self._housekeeper.looks + 1
            self._loops["look"].wake()
        outlook = self._housekeeper.outlook
        if outlook is None or self._housekeeper.looks <= self._drained_look:
            return False
        if (outlook.can_plan and self.options.schedule) or outlook.can_claim:
            self._drained_look = None
            return False
        return True

    def _look(self) -> float:
        wait = self._housekeeper.step()
        self._renewer.clock_offset = self._housekeeper.clock_offset
        return min(wait, 0.05) if self.options.drain else wait

    def _shut_down(self) -> int:
        """Stop claiming, let runs end within the grace, hand the rest back; renewals go on until the last."""
        logger.info("Worker %s is stopping, %s runs under way", self.options.name, self._pool.busy())
        self._dispatcher.stop_claiming()
        self._renewer.stopping = True
        self._loops["look"].stop()
        self._loops["dispatch"].wake()
        self._pool.hand_back_waiting()
        deadline = ticks() + self.options.shutdown_timeout
        while len(self._book) and ticks() < deadline and not self._stops.at_once:
            self._watch(min(0.1, max(0.0, deadline - ticks())))
        self._pool.stop("its worker stopped before it ended")
        return self._close_down()

    def _close_down(self) -> int:
        """Write the last ends, take the worker's row away; return 1 if the database was not there for it."""
        patience = ticks() + LAST_WRITES
        self._loops["dispatch"].wake()
        while not self._dispatcher.settled and ticks() < patience:
            self._give_up_distrusted()
            time.sleep(0.02)
        written = self._dispatcher.settled
        for name in ("listen", "dispatch", "renew", "look"):
            if name in self._loops:
                self._loops[name].stop()
        ended = all(loop.join(max(0.1, patience - ticks())) for name, loop in self._loops.items() if name != "listen")
        if not (written and ended):
            logger.error("Worker %s could not record all ends; their leases will expire", self.options.name)
            os._exit(DEFECTIVE)
        if self._renewer.worker_id is not None:
            deregister_worker(self._renewer.worker_id)
        logger.info("Worker %s stopped", self.options.name)
        return 0

    def _registered(self, worker_id: int) -> None:
        self._renewer.worker_id = self._dispatcher.worker_id = worker_id

    def _lost(self, tokens: Sequence[int]) -> None:
        for run in self._book.drop_lost(tokens):
            self._pool.abandon([run.token])
            tell_lost(run, self.options.name, "taken over")

    def _cancel(self, reasons: Mapping[int, str]) -> None:
        for token, reason in reasons.items():
            self._pool.cancel(token, reason)

    def _wake_dispatcher(self) -> None:
        self._loops["dispatch"].wake()

    def _wake_look(self) -> None:
        self._loops["look"].wake()
        self._loops["dispatch"].wake()

    def _renew_in_time(self) -> None:
        """Wake the renewer if a new lease has to be renewed before it would look again."""
        due = self._book.next_renewal()
        if due is not None and due < self._renewer.next_look:
            self._loops["renew"].wake()

    def _look_for_cancels(self) -> None:
        self._renewer.look_now = True
        self._loops["renew"].wake()
