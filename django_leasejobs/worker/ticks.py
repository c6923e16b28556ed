"""The worker's own clock: it never steps, and goes on while the machine sleeps where the platform can tell."""

from __future__ import annotations

import time

# CLOCK_MONOTONIC stands still while a laptop sleeps, and a lease doesn't.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", None)


def ticks() -> float:
    """Return seconds since some fixed moment."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)
