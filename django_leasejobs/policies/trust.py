"""Until when a worker may trust its leases, and when to renew them. All in seconds of its monotonic clock."""

from __future__ import annotations

RENEWALS_PER_LEASE = 3
MARGIN_SHARE = 6
SHORTEST_MARGIN = 0.2
LONGEST_MARGIN = 5.0


def margin_for(lease: float) -> float:
    """Return how long before its end a lease is trusted no more: time to stop work, and for drifting clocks.

    A sixth of the lease, at least 0.2 s and at most 5 s, and never more than half of the lease.
    """
    return min(max(_positive(lease) / MARGIN_SHARE, SHORTEST_MARGIN), LONGEST_MARGIN, lease / 2)


def trusted_until(started: float, lease: float, margin: float | None = None) -> float:
    """Return when work under the lease must have stopped; ``margin`` None means ``margin_for(lease)``.

    ``started`` is when the last good claim or renewal was *started*: the database sets the expiry at some moment after
    it, so a worker that reckons from the start always stops before the lease can be taken over.
    """
    return started + _positive(lease) - (margin_for(lease) if margin is None else margin)


def renew_every(lease: float) -> float:
    """Return the time between renewals: two may fail before the lease is in danger."""
    return _positive(lease) / RENEWALS_PER_LEASE


def _positive(lease: float) -> float:
    if not lease > 0:
        raise ValueError(f"A lease lasts longer than 0 seconds, not {lease!r}.")
    return lease
