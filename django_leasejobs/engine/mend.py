"""Jobs whose schedule could not be followed are tried again."""

from __future__ import annotations

from datetime import datetime

from django_leasejobs import vendor
from django_leasejobs.clock import database_now
from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.models import Job

from .calendars import calendars_of, known_calendars, names_in
from .cursor import next_instant
from .transactions import alias, in_short_transaction


@in_short_transaction
def mend_jobs() -> tuple[str, ...]:
    """Follow jobs again whose schedule could not be followed but can be now; return their names.

    A calendar was defined meanwhile, or another worker knows a zone or calendar that the one which met the job did
    not. Such a job goes on from its last recorded instant: what came since is treated as missed time is. Rows that
    were written past this package, without a next instant, are taken up from now on.
    Locks: the rows of active jobs without a next instant, skipping what is locked elsewhere.
    """
    using = alias()
    now = database_now(using)
    stopped = Job.objects.using(using).filter(
        enabled=True, paused_at__isnull=True, retired_at__isnull=True, next_run_at__isnull=True
    )
    jobs = (
        stopped.exclude(schedule="")
        .exclude(ends_at__lte=now)
        .exclude(schedule__istartswith="@at", planned_until__isnull=False, schedule_error="")
    )
    mended = [job for job in vendor.lock(jobs.order_by("pk"), skip_locked=True) if _can_go_on(job, now)]
    if mended:
        Job.objects.using(using).bulk_update(mended, ["next_run_at", "planned_until", "schedule_error"])
    return tuple(job.name for job in mended)


def _can_go_on(job: Job, now: datetime) -> bool:
    """Set the job's next instant; tell whether there is one and its calendars are known."""
    since = job.planned_until if job.schedule_error and job.planned_until else now
    try:
        calendars_of(job.exclude, known_calendars(names_in(job.exclude)))
    except ScheduleError:
        return False
    job.next_run_at = next_instant(job, since)
    return job.next_run_at is not None
