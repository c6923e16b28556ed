"""What a running job sees of its run."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from .exceptions import Cancelled, LeaseLost

logger = logging.getLogger("django_leasejobs.job")


class RunChannel(Protocol):
    """How a context reaches its run; the worker hands in one that knows the database."""

    @property
    def cancelled(self) -> bool: ...

    @property
    def lease_lost(self) -> bool: ...

    def progress(self, done: float, total: float | None, message: str) -> None: ...

    def save_state(self, value: Any) -> None: ...

    def guard(self, using: str | None) -> AbstractContextManager[None]: ...


@dataclass(slots=True, kw_only=True)
class RunContext:
    """A job's view of the run it is executing; the first argument of a job with ``takes_context=True``.

    ``scheduled_for`` is the nominal instant (None when triggered by hand), ``attempt`` counts from 1, ``token``
    is the fencing token of this very claim, ``deadline`` the instant at which the attempt's timeout ends it.
    ``state`` is what the last ``save_state()`` of an earlier attempt left, else None.
    """

    run_id: int
    job_name: str
    scheduled_for: datetime | None
    attempt: int
    token: int
    worker: str
    deadline: datetime | None = None
    state: Any = None
    channel: RunChannel = field(repr=False)

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked to cancel this run."""
        return self.channel.cancelled

    @property
    def lease_lost(self) -> bool:
        """Whether the lease may have gone to another worker: its results will be discarded."""
        return self.channel.lease_lost

    def check(self) -> None:
        """Raise LeaseLost or Cancelled if the run should stop; cheap, call it often."""
        if self.lease_lost:
            raise LeaseLost(f"Run {self.run_id} (token {self.token}) no longer holds its lease.")
        if self.cancelled:
            raise Cancelled(f"Run {self.run_id} was asked to cancel.")

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Show how far the run is; kept with the lease, written at most about once a second."""
        self.channel.progress(done, total, message)

    def log(self, message: str, *args: object, level: int = logging.INFO) -> None:
        """Add a line to the run's log, as ``logging`` would."""
        logger.log(level, message, *args)

    def save_state(self) -> None:
        """Store ``state`` for the next attempt; raise LeaseLost when the lease is gone.

        Inside ``guard()`` or an ``atomic`` job it commits with what the job wrote there.
        """
        self.channel.save_state(self.state)

    @contextmanager
    def guard(self, using: str | None = None) -> Iterator[None]:
        """Open a transaction that commits only under this lease, and keeps the lease from being taken until it ends.

        Raise LeaseLost on entry when the lease is gone, and ValueError for a database other than the jobs' own:
        no transaction spans two databases.
        """
        with self.channel.guard(using):
            yield
