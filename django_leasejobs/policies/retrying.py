"""Whether a run is tried again after its job failed or its lease was lost, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from random import Random

from .backoff import delay

SHORTEST_LOSS_BACKOFF = timedelta(seconds=1)
"""A job that kills its worker is not taken up in a tight loop, even where it asks for no backoff."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a run is tried again: after failures, and after lost leases."""

    retries: int
    backoff: timedelta
    max_lost: int


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again after ``delay``."""

    delay: timedelta


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Don't try again."""

    reason: str


def after_failure(failures: int, policy: RetryPolicy, rng: Random) -> Retry | GiveUp:
    """Decide after the ``failures``-th failure of a run, this one counted."""
    if failures > policy.retries:
        allowed = _number(policy.retries, "retry", "retries")
        return GiveUp(f"failed {_times(failures)}, with {allowed} allowed")
    return Retry(delay(failures, policy.backoff, rng))


def after_loss(lost: int, policy: RetryPolicy, rng: Random) -> Retry | GiveUp:
    """Decide after the ``lost``-th lost lease of a run, this one counted.

    The first loss is most likely the worker's own death, so the run goes on at once; from the second on the
    run itself is the suspect and waits as after failures.
    """
    if lost > policy.max_lost:
        allowed = _number(policy.max_lost, "loss", "losses")
        return GiveUp(f"lost its lease {_times(lost)}, with {allowed} allowed")
    if lost == 1:
        return Retry(timedelta(0))
    return Retry(delay(lost - 1, max(policy.backoff, SHORTEST_LOSS_BACKOFF), rng))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _number(count: int, one: str, many: str) -> str:
    return f"{count or 'no'} {one if count == 1 else many}"
