"""A person, a policy or a deleted job wants a run not to go on."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow
from django_leasejobs.models import Job, Lease, Run, RunStatus

from .transactions import alias, in_short_transaction

DETACHED_AT_ONCE = 5000


class CancelResult(StrEnum):
    """What a cancel came to."""

    CANCELLED = "cancelled"
    REQUESTED = "requested"
    ALREADY_REQUESTED = "already requested"
    ALREADY_FINISHED = "already finished"
    UNKNOWN = "unknown run"


@in_short_transaction
def cancel_run(run_id: int, *, reason: str) -> CancelResult:
    """Cancel a READY run at once; ask the holder of a RUNNING one to end it.

    The holder learns of it with its next renewal, or at once by NOTIFY. Calling it again does no harm.
    Locks: the run row if it is READY, else its lease row. Beside it: claim (whoever is first wins; a run that
    was claimed in between is asked by its lease), finish (a run that ended first stays as it ended).
    """
    using = alias()
    if cancel_ready(using, [run_id], reason):
        return CancelResult.CANCELLED
    if request_cancel(using, [run_id], reason):
        vendor.notify(using, vendor.WAKE_CANCEL)
        return CancelResult.REQUESTED
    if Lease.objects.using(using).filter(run_id=run_id).exists():
        return CancelResult.ALREADY_REQUESTED
    if Run.objects.using(using).filter(pk=run_id).exists():
        return CancelResult.ALREADY_FINISHED
    return CancelResult.UNKNOWN


def cancel_ready(using: str, run_ids: Collection[int], reason: str) -> int:
    """End these runs where they are READY; return how many. Within the caller's transaction."""
    ready = Run.objects.using(using).filter(pk__in=run_ids, status=RunStatus.READY)
    return ready.update(status=RunStatus.CANCELLED, reason=reason, finished_at=DatabaseNow())


def request_cancel(using: str, run_ids: Collection[int], reason: str) -> int:
    """Ask the lease holders of these runs to end them; return how many were newly asked. The caller notifies."""
    leases = Lease.objects.using(using).filter(run_id__in=run_ids, cancel_requested_at__isnull=True)
    return leases.update(cancel_requested_at=DatabaseNow(), cancel_reason=reason)


@in_short_transaction
def delete_jobs(job_ids: Collection[int], *, reason: str) -> int:
    """Delete jobs; cancel what of theirs waits or runs. Their history stays under their names.

    Locks: the job rows, then their unfinished run rows, then lease rows. Runs before leases here, unlike finish:
    should the two lock each other out, both are tried again, while a job inside ``guard()`` or ``atomic`` (which
    holds its run and ends its lease last) could not be. Beside it: plan, trigger and claim (they skip the job row
    or wait for it), guards (waited for).
    """
    using = alias()
    jobs = Job.objects.using(using).filter(pk__in=job_ids)
    list(vendor.lock(jobs.order_by("pk")).values_list("pk", flat=True))
    unfinished = Run.objects.using(using).filter(job__in=job_ids, status__in=(RunStatus.READY, RunStatus.RUNNING))
    run_ids = list(unfinished.values_list("pk", flat=True))
    # By key: InnoDB would lock the index of the statuses first, and a guarded run that ends wants that one last.
    list(vendor.lock(Run.objects.using(using).filter(pk__in=run_ids).order_by("pk")).values_list("pk", flat=True))
    cancel_ready(using, run_ids, reason)
    if request_cancel(using, run_ids, reason):
        vendor.notify(using, vendor.WAKE_CANCEL)
    _detach_runs(using, job_ids)
    return jobs.delete()[1].get("leasejobs.Job", 0)


def _detach_runs(using: str, job_ids: Collection[int]) -> None:
    """Let the runs go on without their jobs, in batches: all of a long history at once would outlast a statement."""
    runs = Run.objects.using(using).order_by()
    while run_ids := list(runs.filter(job__in=job_ids).values_list("pk", flat=True)[:DETACHED_AT_ONCE]):
        runs.filter(pk__in=run_ids).update(job=None)
