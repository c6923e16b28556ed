"""Real worker processes of a test, each in its own process group with its output in a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent.parent
T = TypeVar("T")


class WorkerProcess:
    """One ``manage.py`` command of the project in ``root``, in a process group of its own."""

    def __init__(
        self, arguments: list[str], environment: Mapping[str, str], output: Path, *, root: Path = ROOT
    ) -> None:
        self._output = output
        with output.open("wb") as stream:
            self.process = subprocess.Popen(
                [sys.executable, str(root / "manage.py"), *arguments],
                cwd=root,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def output(self) -> str:
        return self._output.read_text(errors="replace")

    def wait_for_output(self, text: str, timeout: float = 20) -> None:
        """Wait until the process has printed ``text``; fail at once when it ended without."""

        def printed() -> bool:
            ended = self.process.poll() is not None
            if text not in self.output:
                assert not ended, f"ended with {self.process.returncode} before it printed {text!r}:\n{self.output}"
                return False
            return True

        wait_until(printed, timeout, lambda: f"{text!r} in:\n{self.output}")

    def signal(self, number: int) -> None:
        """Signal the command's own process, as a service manager's main process."""
        os.kill(self.pid, number)

    def signal_tree(self, number: int) -> None:
        """Signal the command and all its children."""
        os.killpg(self.pid, number)

    def kill(self) -> None:
        """End the command's own process as ``kill -9`` does."""
        self.signal(signal.SIGKILL)
        self.process.wait(10)

    def terminate(self) -> None:
        self.signal(signal.SIGTERM)

    def wait(self, timeout: float = 30) -> int:
        """Wait for the end; return the exit status."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {timeout} s:\n{self.output}") from None

    def end(self) -> None:
        """End the whole group, whatever state it is in."""
        for number in (signal.SIGCONT, signal.SIGKILL):
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                break
        self.process.wait(10)


class WorkerProcesses:
    """Starts workers for a test and ends what is left of them."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self.environment = {**environment, "PYTHONUNBUFFERED": "1", "LEASEJOBS_TESTS": "1"}
        self._started: list[WorkerProcess] = []

    def start(self, *options: str, wait: bool = True, **environment: str) -> WorkerProcess:
        """Start ``run_job_worker`` with options; wait until it works."""
        worker = self.command("run_job_worker", *options, **environment)
        if wait:
            worker.wait_for_output(" started queues=")
        return worker

    def command(self, *arguments: str, **environment: str) -> WorkerProcess:
        """Start any management command."""
        output = self._folder / f"process-{len(self._started)}.log"
        process = WorkerProcess(list(arguments), {**self.environment, **environment}, output)
        self._started.append(process)
        return process

    def end_all(self) -> None:
        for process in self._started:
            process.end()


def wait_until(
    condition: Callable[[], T],
    timeout: float = 20,
    what: Callable[[], str] = lambda: "the condition",
    every: float = 0.02,
) -> T:
    """Poll until the condition is truthy; return its value, or fail with what was waited for."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} s: {what()}")
        time.sleep(every)
