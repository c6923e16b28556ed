"""A distributed job scheduler on the project's own database: shared table, leases instead of locks, workers."""

from __future__ import annotations

from .api import JobHandle, calendar, command_job, job, task, trigger
from .context import RunContext
from .exceptions import (
    Cancelled,
    DurationError,
    JobDefinitionError,
    LeaseJobsError,
    LeaseLost,
    ScheduleError,
    UnknownJob,
    UnknownTask,
)
from .version import __version__

__all__ = [
    "Cancelled",
    "DurationError",
    "JobDefinitionError",
    "JobHandle",
    "LeaseJobsError",
    "LeaseLost",
    "RunContext",
    "ScheduleError",
    "UnknownJob",
    "UnknownTask",
    "__version__",
    "calendar",
    "command_job",
    "job",
    "task",
    "trigger",
]
