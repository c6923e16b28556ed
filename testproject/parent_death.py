"""Processes that end with the one that started them, even when that one is killed."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from collections.abc import Callable

PR_SET_PDEATHSIG = 1


def signalled_when_parent_dies(number: signal.Signals) -> Callable[[], None] | None:
    """Return a ``preexec_fn`` that lets Linux send ``number`` when this process ends.

    None elsewhere, and in other threads than the main one: the end of the starting *thread* is what counts.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None
    libc = ctypes.CDLL(None)

    def prepare() -> None:
        libc.prctl(PR_SET_PDEATHSIG, int(number))

    return prepare
