"""A run of a job now, or later, whatever its schedule says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from django_leasejobs import vendor
from django_leasejobs.exceptions import JobDefinitionError
from django_leasejobs.models import Job, Origin, Run, RunStatus
from django_leasejobs.policies.overlap import Replace, SkipRun, Start
from django_leasejobs.registry import registry

from .jobs import lock_job, require_in_code
from .new_runs import run_of
from .transactions import alias, in_short_transaction
from .unfinished import replace_unfinished, weigh_overlap

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
    Raise UnknownJob for a name that isn't in the job table, JobDefinitionError for an order that can't be carried out.
    Locks: the job row. Beside it: plan (skips the job meanwhile), claim (leaves the job's runs for a moment).
    """
    using = alias()
    _check(order)
    if (known := _of_key(using, order.idempotency_key)) is not None:
        return known
    job, now = lock_job(using, name)
    require_in_code(job)
    run = _run_of_order(job, order, now)
    # A run for later says nothing about what is going on now; it waits its turn when its time has come.
    also = () if order.ignore_overlap or run.available_at > now else _heed_overlap(using, job, run)
    try:
        with transaction.atomic(using=using):
            run.save(using=using, force_insert=True)
    except IntegrityError:
        # Another transaction used the key since it was looked for.
        if (known := _of_key(using, order.idempotency_key)) is not None:
            return known
        raise
    if run.status == RunStatus.READY:
        vendor.notify(using, vendor.WAKE_CLAIM, *also)
    return run


def _check(order: Order) -> None:
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


def _run_of_order(job: Job, order: Order, now: datetime) -> Run:
    """Build the run, with arguments that fit the task as far as this process knows it."""
    args = job.args if order.args is None else order.args
    kwargs = job.kwargs if order.kwargs is None else order.kwargs
    if order.args is not None or order.kwargs is not None:
        registry.check_arguments(job.task, args, kwargs)
    return run_of(
        job,
        now=now,
        origin=Origin.MANUAL,
        args=list(args),
        kwargs=dict(kwargs),
        triggered_by=order.triggered_by,
        idempotency_key=order.idempotency_key,
        available_at=order.run_after or now,
        exclusive=job.exclusive and not order.ignore_overlap,
    )


def _heed_overlap(using: str, job: Job, run: Run) -> tuple[str, ...]:
    """Skip the run or make way for it, as the job's policy says; return what else to notify."""
    match weigh_overlap(using, job):
        case SkipRun(reason=reason):
            run.status, run.reason, run.finished_at = RunStatus.SKIPPED, reason, run.created_at
            return ()
        case Replace():
            return replace_unfinished(using, [job.pk], "replaced by a triggered run")
        case Start():
            return ()


def _of_key(using: str, key: str | None) -> Run | None:
    return None if key is None else Run.objects.using(using).filter(idempotency_key=key).first()
