"""Stop signals: the first one asks, the second one insists."""

from __future__ import annotations

import signal
from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StopRequests:
    """Counts stop signals of this process. The handler only counts: logging in one could meet a held lock."""

    def __init__(self) -> None:
        self._count = 0

    @property
    def asked(self) -> bool:
        return self._count > 0

    @property
    def at_once(self) -> bool:
        return self._count > 1

    def install(self) -> None:
        """Listen for signals from now on; only in a process's main thread."""
        for number in STOP_SIGNALS:
            signal.signal(number, self._signalled)

    def ask(self) -> None:
        """Count one request, as a signal does."""
        self._count += 1

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self.ask()
