"""Until when a worker may trust its leases, and when to renew them. All in seconds of its monotonic clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

RENEWALS_PER_LEASE = 3
MARGIN_SHARE = 6
SHORTEST_MARGIN = 0.2
LONGEST_MARGIN = 5.0


@dataclass(frozen=True, slots=True)
class Claim:
    """A lease of ``lease`` seconds whose last good claim or renewal was *started* at ``started``.

    The start is what counts: the database sets the expiry at some moment after it, so a worker that reckons
    from the start always stops before the lease can be taken over.
    """

    started: float
    lease: float

    @property
    def trusted_until(self) -> float:
        return trusted_until(self.started, self.lease)

    @property
    def renew_at(self) -> float:
        return self.started + renew_every(self.lease)


def margin_for(lease: float) -> float:
    """Return how long before its end a lease is trusted no more: time to stop work, and for drifting clocks.

    A sixth of the lease, at least 0.2 s and at most 5 s, and never more than half of the lease.
    """
    return min(max(_positive(lease) / MARGIN_SHARE, SHORTEST_MARGIN), LONGEST_MARGIN, lease / 2)


def trusted_until(started: float, lease: float, margin: float | None = None) -> float:
    """Return when work under the lease must have stopped; ``margin`` None means ``margin_for(lease)``."""
    return started + _positive(lease) - (margin_for(lease) if margin is None else margin)


def renew_every(lease: float) -> float:
    """Return the time between renewals: two may fail before the lease is in danger."""
    return _positive(lease) / RENEWALS_PER_LEASE


def until_next_renewal(claims: Iterable[Claim], now: float) -> float | None:
    """Return how long the next renewal can wait, 0 when one is due, None without claims.

    A renewal renews all leases of the worker, so the most pressing one sets the time.
    """
    due = min((claim.renew_at for claim in claims), default=None)
    return None if due is None else max(0.0, due - now)


def until_distrust(claims: Iterable[Claim], now: float) -> float | None:
    """Return how long all claims can be trusted, 0 when one can't be any more, None without claims."""
    end = min((claim.trusted_until for claim in claims), default=None)
    return None if end is None else max(0.0, end - now)


def _positive(lease: float) -> float:
    if not lease > 0:
        raise ValueError(f"A lease lasts longer than 0 seconds, not {lease!r}.")
    return lease
