from __future__ import annotations

from .attempt import Attempt
from .calendar import Calendar
from .job import Job
from .lease import Lease
from .run import Run
from .statuses import FINISHED, UNFINISHED, JobState, Origin, Outcome, RunStatus, Source
from .worker import Worker

__all__ = [
    "FINISHED",
    "UNFINISHED",
    "Attempt",
    "Calendar",
    "Job",
    "JobState",
    "Lease",
    "Origin",
    "Outcome",
    "Run",
    "RunStatus",
    "Source",
    "Worker",
]
