"""Signals become log records. Every sentence for operators about the life of runs is on this page."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any

from django.dispatch import receiver

from . import signals
from .texts import one_line

logger = logging.getLogger("django_leasejobs")


@receiver(signals.run_started)
def tell_started(run: Any, worker: str, **kwargs: object) -> None:
    logger.info(
        "Run id=%s job=%s claimed attempt=%s token=%s worker=%s",
        run.run_id, run.job_name or run.task, run.attempt, run.token, worker,
    )  # fmt: skip


@receiver(signals.run_finished)
def tell_finished(
    run_id: int, job_name: str, task: str, status: str, attempt: int, token: int, worker: str,
    retry_at: datetime | None, error: str, **kwargs: object,
) -> None:  # fmt: skip
    job = job_name or task
    if retry_at is not None:
        logger.warning(
            "Run id=%s job=%s goes back to READY attempt=%s token=%s worker=%s available_at=%s: %s",
            run_id, job, attempt, token, worker, retry_at.isoformat(timespec="milliseconds"), one_line(error),
        )  # fmt: skip
        return
    level = logging.ERROR if status == "FAILED" else logging.INFO
    logger.log(
        level,
        "Run id=%s job=%s finished status=%s attempt=%s token=%s worker=%s%s",
        run_id, job, status, attempt, token, worker, f": {one_line(error)}" if error else "",
    )  # fmt: skip


LOST_WORDS = {
    "reclaimed": "its lease expired and was ended",
    "taken over": "its lease was gone when it was to be renewed; its code is stopped",
    "distrusted": "its lease could not be renewed in time and may be taken over; its code is stopped",
    "discarded": "its lease was gone when it ended; the result is discarded",
}


@receiver(signals.lease_lost)
def tell_lease_lost(
    run_id: int, job_name: str, task: str, token: int, worker: str, outcome: str, **kwargs: object
) -> None:
    status = f" status={kwargs['status']}" if "status" in kwargs else ""
    logger.warning(
        "Run id=%s job=%s lost its lease token=%s worker=%s%s: %s",
        run_id, job_name or task, token, worker, status, LOST_WORDS.get(outcome, outcome),
    )  # fmt: skip


@receiver(signals.job_missed)
def tell_missed(
    job_name: str, first: datetime, last: datetime, count: int, reason: str, status: str = "MISSED", **kwargs: object
) -> None:
    level = logging.WARNING if status == "MISSED" else logging.INFO
    logger.log(
        level,
        "Job %s %s instants=%s first=%s last=%s: %s",
        job_name, status, count, first.isoformat(), last.isoformat(), one_line(reason),
    )  # fmt: skip


@receiver(signals.job_paused)
def tell_paused(job_name: str, reason: str, **kwargs: object) -> None:
    logger.error("Job %s paused itself: %s", job_name, one_line(reason))


@receiver(signals.job_broken)
def tell_broken(job_name: str, reason: str, **kwargs: object) -> None:
    logger.error("Job %s can't be planned and is off the due list until it is mended: %s", job_name, one_line(reason))
