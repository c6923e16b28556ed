"""The demo's children: workers and the site, each with its output in a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from testproject.parent_death import signalled_when_parent_dies

ROOT = Path(__file__).resolve().parent.parent.parent
STOP_TIMEOUT = 10.0


class Child:
    """One management command in a session of its own, so that a Ctrl-C at the terminal reaches the demo only."""

    def __init__(self, name: str, arguments: list[str], log: Path) -> None:
        self.name = name
        self.killed = False
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), *arguments],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=signalled_when_parent_dies(signal.SIGTERM),
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def last_words(self) -> str:
        """Return the last lines of its output."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-15:])

    def kill(self) -> None:
        """End it as ``kill -9`` does: no handler runs, nothing is handed back."""
        self.killed = True
        self._process.kill()
        self._process.wait()

    def ask_to_stop(self) -> None:
        if not self.ended:
            self._process.terminate()

    def end(self, deadline: float) -> None:
        """Wait until ``deadline`` (monotonic), then end what is left of its group."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(max(0.1, deadline - time.monotonic()))
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()


class Children:
    """All children of a demo; leaving the context ends those that still run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._all: list[Child] = []

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *exc_info: object) -> None:
        for child in self._all:
            child.ask_to_stop()
        deadline = time.monotonic() + STOP_TIMEOUT
        for child in self._all:
            child.end(deadline)

    def start(self, name: str, *arguments: str) -> Child:
        child = Child(name, list(arguments), self._folder / f"{name}.log")
        self._all.append(child)
        return child

    def start_worker(self, name: str) -> Child:
        return self.start(
            name, "run_job_worker", "--name", name, "--concurrency", "2", "--poll-interval", "0.5",
            "--shutdown-timeout", "5",
        )  # fmt: skip

    def unexpectedly_ended(self) -> list[Child]:
        return [child for child in self._all if child.ended and not child.killed]

    def get(self, name: str) -> Child:
        return next(child for child in self._all if child.name == name)
