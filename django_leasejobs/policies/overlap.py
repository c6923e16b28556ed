"""Whether one more run of a job may be made while others of it are unfinished."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never


class Overlap(StrEnum):
    """What becomes of a due instant while an earlier run is not finished."""

    SKIP = "skip"
    QUEUE = "queue"
    ALLOW = "allow"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Start:
    """Make the run."""


@dataclass(frozen=True, slots=True)
class SkipRun:
    """Make no run, and record why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Replace:
    """Cancel the job's unfinished runs and make the run; it can start when their leases are gone."""


def decide(overlap: Overlap, *, waiting: int, running: int) -> Start | SkipRun | Replace:
    """Decide about one more run beside ``waiting`` READY and ``running`` RUNNING runs of its job.

    A run that waits for its retry is a waiting one, so it holds up ``skip`` and ``queue`` too.
    """
    match overlap:
        case Overlap.ALLOW:
            return Start()
        case Overlap.SKIP if running:
            return SkipRun("the previous run was still running")
        case Overlap.SKIP if waiting:
            return SkipRun("the previous run was still waiting to start")
        case Overlap.QUEUE if waiting:
            return SkipRun("another run was waiting already")
        case Overlap.REPLACE if waiting or running:
            return Replace()
        case Overlap.SKIP | Overlap.QUEUE | Overlap.REPLACE:
            return Start()
        case _:
            assert_never(overlap)
