"""The first Ctrl-C or SIGTERM ends the demo; none breaks off its tidying up."""

from __future__ import annotations

import signal
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def catch_stop_signals() -> None:
    """Let the first of them raise KeyboardInterrupt."""
    for number in SIGNALS:
        # Under nohup a hang-up is ignored, and stays so.
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def ignore_stop_signals() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> None:
    ignore_stop_signals()
    raise KeyboardInterrupt
