"""What is judged about health, asked in a fixed number of statements however many jobs and runs there are."""

from __future__ import annotations

from django.db.models import Count, Min, OuterRef, Subquery

from django_leasejobs.clock import database_now
from django_leasejobs.models import Job, Lease, RunStatus, Worker
from django_leasejobs.policies.health_facts import Facts, JobFacts, LeaseFacts, WaitingFacts, WorkerFacts

from .claim import claimable
from .history import DECIDED, newest_ended
from .transactions import alias

MOST_FAILURES = 10
"""How many runs of a failing job are looked at, from the newest back."""


def gather_facts() -> Facts:
    """Return the facts that ``policies.health.judge`` judges. Six statements; locks nothing."""
    using = alias()
    return Facts(
        now=database_now(using),
        jobs=_job_facts(using),
        leases=_lease_facts(using),
        workers=worker_facts(using),
        waiting=_waiting_facts(using),
    )


def worker_facts(using: str) -> tuple[WorkerFacts, ...]:
    """Return what the rows of all workers say, dead ones too."""
    return tuple(
        WorkerFacts(
            name=worker.name,
            started_at=worker.started_at,
            heartbeat_at=worker.heartbeat_at,
            heartbeat_every=worker.heartbeat_every,
            tasks=frozenset(worker.tasks),
            queues=frozenset(worker.queues),
            stopping=worker.stopping,
            clock_offset=worker.clock_offset,
        )
        for worker in Worker.objects.using(using)
    )


def _job_facts(using: str) -> tuple[JobFacts, ...]:
    failures = _failures_in_row(using)
    jobs = Job.objects.using(using).only(
        "name", "enabled", "paused_at", "paused_by", "pause_reason", "retired_at", "next_run_at", "schedule_error"
    )
    return tuple(
        JobFacts(
            name=job.name,
            active=job.active,
            next_run_at=job.next_run_at,
            schedule_error=job.schedule_error,
            failures_in_row=failures.get(job.pk, 0),
            pause_reason=job.pause_reason if _paused_itself(job) else "",
        )
        for job in jobs
    )


def _paused_itself(job: Job) -> bool:
    return job.paused_at is not None and not job.paused_by and job.enabled and job.retired_at is None


def _failures_in_row(using: str) -> dict[int, int]:
    """Count, by job, the failed runs since the last success, up to MOST_FAILURES; healthy jobs are left out.

    Each look takes one entry of an index, so a long history costs nothing.
    """
    statuses = newest_ended(OuterRef("pk"), DECIDED).values("status")
    looks = {f"look_{number}": Subquery(statuses[number : number + 1]) for number in range(1, MOST_FAILURES)}
    failing = Job.objects.using(using).annotate(look_0=Subquery(statuses[:1])).filter(look_0=RunStatus.FAILED)
    counts = {}
    for pk, *found in failing.annotate(**looks).order_by().values_list("pk", "look_0", *looks):
        counts[pk] = next((row for row, status in enumerate(found) if status != RunStatus.FAILED), MOST_FAILURES)
    return counts


def _lease_facts(using: str) -> tuple[LeaseFacts, ...]:
    leases = Lease.objects.using(using).order_by("expires_at")
    columns = ("pk", "run_id", "run__worker_name", "run__job_name", "run__timeout", "claimed_at", "expires_at")
    return tuple(
        LeaseFacts(
            token=token,
            run_id=run_id,
            worker_name=worker,
            expires_at=expires_at,
            job_name=job,
            deadline=None if timeout is None else claimed_at + timeout,
        )
        for token, run_id, worker, job, timeout, claimed_at, expires_at in leases.values_list(*columns)
    )


def _waiting_facts(using: str) -> tuple[WaitingFacts, ...]:
    """Group the runs that any worker could start now by task and queue, whatever the workers' code knows."""
    groups = claimable(using, (), None).order_by().values("task", "queue")
    return tuple(WaitingFacts(**group) for group in groups.annotate(count=Count("pk"), since=Min("available_at")))
