from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.processes import WorkerProcess, WorkerProcesses

FAST = ["--no-sync", "--poll-interval", "0.2"]


class Fleet:
    """Starts workers that look often and leave the job table to the test."""

    def __init__(self, workers: WorkerProcesses) -> None:
        self._workers = workers

    def start(self, *options: str, concurrency: int = 1, wait: bool = True, **environment: str) -> WorkerProcess:
        return self._workers.start(*FAST, "--concurrency", str(concurrency), *options, wait=wait, **environment)

    def command(self, *arguments: str, **environment: str) -> WorkerProcess:
        return self._workers.command(*arguments, **environment)


@pytest.fixture
def fleet(workers: WorkerProcesses) -> Fleet:
    return Fleet(workers)


@pytest.fixture
def lease() -> timedelta:
    """A short lease, for tests that wait for its end."""
    return timedelta(seconds=2)
