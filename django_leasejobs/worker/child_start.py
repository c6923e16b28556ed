"""The first steps of a child process, before the project is loaded."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from multiprocessing.connection import Connection

import django

from .child_settings import ChildSettings

PR_SET_PDEATHSIG = 1


def child_main(pipe: Connection, settings: ChildSettings) -> None:
    """Load the project unless the fork server did, then do runs until the worker is gone."""
    die_with_parent()
    if os.getppid() == 1:
        os._exit(1)  # the fork server ended before that could be told to the kernel
    ignore_stop_signals()
    os.environ.clear()
    os.environ.update(settings.environment)
    django.setup()
    # Needs the models, which are there only now.
    from .pools.child import serve

    serve(pipe, settings)


def die_with_parent() -> None:
    """Let Linux kill this process when the one that forked it ends, even while it is stuck in C code."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def ignore_stop_signals() -> None:
    """Leave stopping to the worker: a terminal or a service manager signals the whole group.

    Handlers that do nothing instead of SIG_IGN, which programs that a job starts would inherit.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
