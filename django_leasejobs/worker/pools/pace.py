"""How many runs a child or thread may hold, from how long runs take."""

from __future__ import annotations

STALLED_AFTER = 0.2
AHEAD_SECONDS = 0.1
MOST = 100
SHORT_SECONDS = 0.01
WEIGHT = 0.1
SAMPLES = 5


class Pace:
    """A moving average of run times; runs of milliseconds are handed over some ahead, others one by one."""

    def __init__(self) -> None:
        self._average = 0.0
        self._samples = 0

    def note(self, seconds: float) -> None:
        self._samples += 1
        if seconds > STALLED_AFTER:
            self.reset()
            return
        self._average += (seconds - self._average) * (WEIGHT if self._samples > SAMPLES else 1 / self._samples)

    def reset(self) -> None:
        """Go back to one by one: a run turned out to be a long one."""
        self._samples, self._average = 0, 0.0

    def capacity(self) -> int:
        """How many runs one child or thread may hold, the current one included."""
        if self._samples < SAMPLES or self._average > SHORT_SECONDS:
            return 1
        return max(1, min(MOST, int(AHEAD_SECONDS / max(self._average, AHEAD_SECONDS / MOST))))
