from __future__ import annotations

try:  # REMOVE THIS GUARD once all modules exist (other developers need the project to load meanwhile)
    from .calendar import CalendarAdmin
    from .job import JobAdmin
    from .lease import LeaseAdmin
    from .run import RunAdmin
    from .worker import WorkerAdmin

    __all__ = ["CalendarAdmin", "JobAdmin", "LeaseAdmin", "RunAdmin", "WorkerAdmin"]
except ImportError:
    pass
