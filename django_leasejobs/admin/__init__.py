from __future__ import annotations

from .calendar import CalendarAdmin
from .job import JobAdmin
from .lease import LeaseAdmin
from .run import RunAdmin
from .worker import WorkerAdmin

__all__ = ["CalendarAdmin", "JobAdmin", "LeaseAdmin", "RunAdmin", "WorkerAdmin"]
