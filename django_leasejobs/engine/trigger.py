"""A run of a job now, or later, whatever its schedule says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.exceptions import JobDefinitionError, UnknownJob
from django_leasejobs.models import UNFINISHED, Job, Origin, Run, RunStatus
from django_leasejobs.policies.overlap import Overlap, Replace, SkipRun, Start, decide
from django_leasejobs.registry import require_json

from .cancel import WAKE_CANCEL, cancel_ready, request_cancel
from .transactions import alias, in_short_transaction

WAKE_CLAIM = "claim"
MAX_KEY = 255
MAX_WHO = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is asked for beside the job's name; None takes what the job says."""

    args: Sequence[Any] | None = None
    kwargs: Mapping[str, Any] | None = None
    run_after: datetime | None = None
    idempotency_key: str | None = None
    triggered_by: str = ""
    ignore_overlap: bool = False


@in_short_transaction
def trigger_job(name: str, order: Order) -> Run:
    """Insert a run of the job; return it, or the run that the same idempotency key made before.

    It never moves the schedule. When the job's overlap policy forbids a run beside the one that is going on, the
    returned row is SKIPPED and its reason says why. Joins the caller's transaction.
    Raise UnknownJob for a name that isn't in the job table.
    Locks: the job row. Beside it: plan (skips the job meanwhile), claim (leaves the job's runs for a moment).
    """
    using = alias()
    check_order(order)
    if (known := _of_key(using, order.idempotency_key)) is not None:
        return known
    job = vendor.lock(Job.objects.using(using).filter(name=name)).annotate(now=DatabaseNow()).first()
    if job is None:
        raise UnknownJob(f"There is no job named {name!r} in the job table. Run sync_jobs, or see list_jobs.")
    now = as_utc(job.now)
    deferred = order.run_after is not None and order.run_after > now
    # A run for later says nothing about what is going on now; it waits its turn when its time has come.
    decision = Start() if order.ignore_overlap or deferred else weigh_overlap(using, job)
    run = run_of(
        job,
        now=now,
        origin=Origin.MANUAL,
        triggered_by=order.triggered_by,
        idempotency_key=order.idempotency_key,
        available_at=order.run_after or now,
    )
    if order.args is not None:
        run.args = list(order.args)
    if order.kwargs is not None:
        run.kwargs = dict(order.kwargs)
    if order.ignore_overlap:
        run.exclusive = False
    also: tuple[str, ...] = ()
    match decision:
        case SkipRun(reason=reason):
            run.status, run.reason, run.finished_at = RunStatus.SKIPPED, reason, now
        case Replace():
            also = replace_unfinished(using, [job.pk], "replaced by a triggered run")
    try:
        with transaction.atomic(using=using):
            run.save(using=using, force_insert=True)
    except IntegrityError:
        # Another transaction used the key since it was looked for.
        if (known := _of_key(using, order.idempotency_key)) is not None:
            return known
        raise
    if run.status == RunStatus.READY:
        vendor.notify(using, WAKE_CLAIM, *also)
    return run


def check_order(order: Order) -> None:
    """Raise JobDefinitionError for an order that can't be stored."""
    if order.run_after is not None and order.run_after.tzinfo is None:
        words = f"run_after must be an aware datetime, not the naive {order.run_after!r}."
        raise JobDefinitionError(words, field="run_after")
    if order.idempotency_key is not None and not 0 < len(order.idempotency_key) <= MAX_KEY:
        words = f"idempotency_key must have 1 to {MAX_KEY} characters: {order.idempotency_key!r}."
        raise JobDefinitionError(words, field="idempotency_key")
    if len(order.triggered_by) > MAX_WHO:
        words = f"triggered_by may have {MAX_WHO} characters, {order.triggered_by[:20]!r}... has more."
        raise JobDefinitionError(words, field="triggered_by")
    if order.args is not None:
        require_json(list(order.args), what="the arguments")
    if order.kwargs is not None:
        require_json(dict(order.kwargs), what="the keyword arguments")


def counted(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Select the unfinished runs that overlap policies look at.

    Not those of a backfill, which give way to the job's other runs, nor those that were triggered for later.
    """
    deferred = Q(origin=Origin.MANUAL, status=RunStatus.READY, started_at__isnull=True, available_at__gt=DatabaseNow())
    return runs.filter(status__in=UNFINISHED).exclude(origin=Origin.BACKFILL).exclude(deferred)


def weigh_overlap(using: str, job: Job) -> Start | SkipRun | Replace:
    """Decide about one more run of a job whose row the caller has locked."""
    statuses = list(counted(Run.objects.using(using).filter(job=job)).values_list("status", flat=True)[:1000])
    return decide(
        Overlap(job.overlap), waiting=statuses.count(RunStatus.READY), running=statuses.count(RunStatus.RUNNING)
    )


def replace_unfinished(using: str, job_ids: Sequence[int], reason: str) -> tuple[str, ...]:
    """Cancel what waits of these jobs and ask for the end of what runs: leases before runs, as everywhere.

    Return what the caller's notification has to say beside its own word.
    """
    if not job_ids:
        return ()
    run_ids = list(counted(Run.objects.using(using).filter(job__in=job_ids)).values_list("pk", flat=True))
    asked = request_cancel(using, run_ids, reason)
    cancel_ready(using, run_ids, reason)
    return (WAKE_CANCEL,) if asked else ()


def run_of(job: Job, *, now: datetime, origin: Origin, **over: Any) -> Run:
    """Build a run with a copy of what its job says, not saved."""
    values: dict[str, Any] = {
        "job_id": job.pk,
        "job_name": job.name,
        "task": job.task,
        "args": job.args,
        "kwargs": job.kwargs,
        "origin": origin,
        "status": RunStatus.READY,
        "available_at": now,
        "queue": job.queue,
        "priority": job.priority,
        "exclusive": job.exclusive,
        "lease_duration": job.lease,
        "timeout": job.timeout,
        "retries": job.retries,
        "backoff": job.backoff,
        "max_lost": job.max_lost,
        "created_at": now,
    }
    return Run(**{**values, **over})


def _of_key(using: str, key: str | None) -> Run | None:
    return None if key is None else Run.objects.using(using).filter(idempotency_key=key).first()
