from __future__ import annotations


class LeaseJobsError(Exception):
    """Base class for this package's errors. Do not raise directly."""


class ScheduleError(LeaseJobsError, ValueError):
    """A schedule, time zone or calendar that can't be used; ``field`` says which part and ``reason`` why."""

    def __init__(self, reason: str, *, field: str = "schedule") -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}"


class DurationError(LeaseJobsError, ValueError):
    """A length of time that can't be read or is out of range."""


class JobDefinitionError(LeaseJobsError, ValueError):
    """A job definition that can't work: bad options, arguments or function; ``field`` names the option, if it is one.

    The message stands alone. ``reason`` is the part of it that a form can show beside the field.
    """

    def __init__(self, message: str, *, field: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.field = field
        self.reason = reason or message


class UnknownJob(LeaseJobsError, LookupError):
    """No job of this name in the job table."""


class UnknownTask(LeaseJobsError, LookupError):
    """No task of this name is registered in this process."""


class LeaseLost(LeaseJobsError):
    """Raised into job code whose lease no longer holds: whatever it does now, another worker may do too."""


class Cancelled(LeaseJobsError):
    """Raised into job code whose run somebody asked to cancel."""
