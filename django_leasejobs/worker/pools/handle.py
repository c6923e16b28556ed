"""The worker's side of one child process."""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.outcomes import Ending, HandedBack
from django_leasejobs.worker.child_settings import ChildSettings
from django_leasejobs.worker.child_start import child_main
from django_leasejobs.worker.ticks import ticks

from .messages import Cancel, GiveBack, Take

LIGHT = 1000
# A child reads at once; one that was frozen, or whose threads can't run, must not be waited for.
SEND_PATIENCE = 1


@dataclass(slots=True, eq=False)
class Assigned:
    """A run of the pool; ``since`` when it waits for a child, ``began`` the tick from which one may be doing it."""

    run: Claimed
    since: float = field(default_factory=ticks)
    began: float | None = None
    kill_at: float | None = None
    cancel_reason: str = ""
    forced: Ending | None = None
    abandoned: bool = False

    @property
    def is_light(self) -> bool:
        """Whether many such runs fit into a pipe, going by what the job gave them."""
        run = self.run
        return sum(len(repr(given)) for given in (run.args, run.kwargs, run.state)) <= LIGHT

    @property
    def timeout(self) -> float | None:
        return None if self.run.timeout is None else self.run.timeout.total_seconds()

    def overdue(self, now: float) -> bool:
        return self.began is not None and self.timeout is not None and now >= self.began + self.timeout


@dataclass(slots=True, eq=False)
class ChildHandle:
    """A child, its pipe, and the runs it has, the current one first."""

    process: BaseProcess
    pipe: Connection
    ready: bool = False
    killed: bool = False
    killed_for: int | None = None
    recalled: bool = False
    assigned: deque[Assigned] = field(default_factory=deque)

    @classmethod
    def start(cls, context: BaseContext, settings: ChildSettings) -> ChildHandle:
        ours, theirs = context.Pipe()
        bound_writes(ours)
        process = context.Process(target=child_main, args=(theirs, settings), name="leasejobs-child")  # type: ignore[attr-defined]
        try:
            with import_path_in_environment():
                process.start()
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return cls(process, ours)

    @property
    def current(self) -> Assigned | None:
        return self.assigned[0] if self.assigned else None

    @property
    def exit_words(self) -> str:
        code = self.process.exitcode
        if code is None or code >= 0:
            return f"exit code {code}"
        try:
            return f"killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"killed by signal {-code}"

    def room(self, capacity: int) -> int:
        if not self.ready or self.killed or self.recalled:
            return 0
        return max(0, capacity - len(self.assigned))

    def assign(self, assigned: Assigned) -> None:
        if not self.assigned:
            assigned.began = ticks()
        self.assigned.append(assigned)

    def take(self, token: int) -> Assigned | None:
        """Take a run out; the one behind it is the current one from now."""
        for position, assigned in enumerate(self.assigned):
            if assigned.run.token == token:
                del self.assigned[position]
                if self.assigned and self.assigned[0].began is None:
                    self.assigned[0].began = ticks()
                return assigned
        return None

    def next_deadline(self, recall_after: float) -> float | None:
        """The tick at which the current run needs a look; None when it may take for ever."""
        current = self.current
        if current is None or current.began is None or self.killed:
            return None
        deadlines = [] if current.kill_at is None else [current.kill_at]
        if current.timeout is not None:
            deadlines.append(current.began + current.timeout)
        if len(self.assigned) > 1 and not self.recalled:
            deadlines.append(current.began + recall_after)
        return min(deadlines, default=None)

    def send_runs(self, runs: Sequence[Claimed]) -> None:
        self._send(Take(tuple(runs)))

    def tell_cancel(self, token: int, reason: str) -> None:
        self._send(Cancel(token, reason))

    def recall(self) -> None:
        """Ask for what has not begun, once until it is answered."""
        if not self.recalled:
            self.recalled = True
            self._send(GiveBack())

    def kill(self, token: int | None) -> None:
        """End the process at once; ``token`` is the run because of which."""
        self.killed, self.killed_for = True, token
        if self.process.pid is not None and self.process.exitcode is None:
            self.process.kill()

    def read_all(self, hear: Callable[[ChildHandle, object], None]) -> None:
        """Hear all messages that have arrived; a broken pipe is the sentinel's business."""
        try:
            while self.pipe.poll():
                hear(self, self.pipe.recv())
        except (EOFError, OSError):
            return

    def _send(self, message: object) -> None:
        try:
            self.pipe.send(message)
        except BlockingIOError:
            # A message that is half written can't be taken back, so the process is of no use any more.
            for assigned in self.assigned:
                assigned.forced = assigned.forced or HandedBack("its process took no work")
            self.kill(None)
        except OSError:
            return  # it died: its runs are dealt with when it is buried


def bound_writes(pipe: Connection) -> None:
    """Let a write that gets nowhere for ``SEND_PATIENCE`` seconds raise BlockingIOError."""
    with socket.socket(fileno=os.dup(pipe.fileno())) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", SEND_PATIENCE, 0))
        # A project's socket.setdefaulttimeout() would have made it give up at once.
        same.setblocking(True)


@contextmanager
def import_path_in_environment() -> Iterator[None]:
    """Let the fork server, an interpreter of its own, find what this process can import."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
