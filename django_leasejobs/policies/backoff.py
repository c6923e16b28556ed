"""How long to wait before the next try."""

from __future__ import annotations

from datetime import timedelta
from random import Random

CAP = timedelta(hours=1)
DOUBLINGS = 64
"""More doublings than any base needs to reach any cap, and few enough for a float."""


def delay(n: int, base: timedelta, rng: Random, cap: timedelta = CAP) -> timedelta:
    """Return the wait before the ``n``-th retry, counted from 1.

    It doubles from ``base`` up to ``cap`` (or ``base``, if that is longer) and is drawn evenly from the upper
    half of that: below the cap no wait is shorter than the one before it, and a hundred runs that failed
    together don't return together.
    Raise ValueError for ``n`` below 1 or a negative duration.
    """
    if n < 1 or base < timedelta(0) or cap < timedelta(0):
        raise ValueError(f"A number from 1 and durations from 0 are needed: n={n!r}, base={base!r}, cap={cap!r}.")
    doubled = base.total_seconds() * 2.0 ** min(n - 1, DOUBLINGS)
    longest = min(doubled, max(base, cap).total_seconds())
    return timedelta(seconds=longest * rng.uniform(0.5, 1.0))
