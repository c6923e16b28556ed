"""Runs one claimed run's code in this process and says how it ended."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback as tb
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django_leasejobs.context import RunContext
from django_leasejobs.engine import guard
from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.complete import complete_atomically
from django_leasejobs.engine.outcomes import Ending, HandedBack, Raised, Stopped, Succeeded
from django_leasejobs.exceptions import Cancelled, JobDefinitionError, LeaseLost, UnknownTask
from django_leasejobs.registry import Task, registry, require_json

from .child_settings import Limits
from .connections import after_run, before_run
from .run_log import RunLog, storable_text

logger = logging.getLogger("django_leasejobs")

MAX_ERROR_BYTES = 2000


class TimedOut(BaseException):
    """Thrown into a thread whose attempt is over its timeout; no ``except Exception`` of a job swallows it."""


@dataclass(frozen=True, slots=True)
class Executed:
    """How an attempt ended. ``committed``: its success is in the database already, with the job's own writes."""

    ending: Ending
    log: str = ""
    committed: bool = False


class Channel:
    """A running job's way to its run; the pools set the flags and take the progress."""

    def __init__(self, run: Claimed, on_progress: Callable[[int, Any], None]) -> None:
        self.run = run
        self.cancelled = False
        self.lease_lost = False
        self.cancel_reason = ""
        self._on_progress = on_progress

    def progress(self, done: float, total: float | None, message: str) -> None:
        value = {"done": done, "total": total, "message": storable_text(message, 200)}
        require_json(value, what=f"the progress of run {self.run.run_id}")
        self._on_progress(self.run.token, value)

    def save_state(self, value: Any) -> None:
        require_json(value, what=f"the state of run {self.run.run_id}")
        guard.save_state(self.run, value)

    def guard(self, using: str | None) -> AbstractContextManager[None]:
        return guard.guarded(self.run, using)


def execute(run: Claimed, channel: Channel, *, worker_name: str, limits: Limits) -> Executed:
    """Call the run's task with its arguments; never raises what the job raised."""
    log = RunLog(limits.log)
    try:
        task = registry.get_task(run.task)
    except UnknownTask as error:
        return Executed(HandedBack(str(error)))
    before_run()
    try:
        with log:
            return _attempt(task, run, channel, worker_name, limits, log)
    except LeaseLost as error:
        return Executed(Raised(_said(error), timed_out=False), log.text())
    except Cancelled as error:
        return Executed(Stopped(channel.cancel_reason or _said(error)), log.text())
    except TimedOut as error:
        return Executed(_raised(error, limits, timed_out=True), log.text())
    except BaseException as error:  # noqa: BLE001  (SystemExit and KeyboardInterrupt of a job end the job only)
        return Executed(_raised(error, limits), log.text())
    finally:
        after_run()


def _attempt(task: Task, run: Claimed, channel: Channel, worker_name: str, limits: Limits, log: RunLog) -> Executed:
    context = _context(run, channel, worker_name)
    leading = (context,) if task.takes_context else ()
    if not task.atomic:
        return Executed(Succeeded(storable_result(_call(task, leading, run), limits, run)), log.text())

    def work() -> tuple[Any, str]:
        return storable_result(_call(task, leading, run), limits, run), log.text()

    result = complete_atomically(run, work)
    return Executed(Succeeded(result), log.text(), committed=True)


def _call(task: Task, leading: tuple[RunContext, ...], run: Claimed) -> Any:
    if task.is_async:
        return asyncio.run(task.func(*leading, *run.args, **run.kwargs))
    return task.func(*leading, *run.args, **run.kwargs)


def _context(run: Claimed, channel: Channel, worker_name: str) -> RunContext:
    return RunContext(
        run_id=run.run_id,
        job_name=run.job_name,
        scheduled_for=run.scheduled_for,
        attempt=run.attempt,
        token=run.token,
        worker=worker_name,
        deadline=None if run.timeout is None else datetime.now(UTC) + run.timeout,
        state=run.state,
        channel=channel,
    )


def storable_result(result: Any, limits: Limits, run: Claimed) -> Any:
    """Return the result if it can be kept; else None, with a line in the run's log that says why."""
    if result is None:
        return None
    try:
        require_json(result, what="the result")
    except JobDefinitionError as error:
        logger.warning("Run id=%s: the result is not kept: %s", run.run_id, storable_text(str(error), MAX_ERROR_BYTES))
        return None
    text = json.dumps(result)
    size = len(text)
    if size > limits.result:
        logger.warning(
            "Run id=%s: the result is not kept: it has %s bytes, MAX_RESULT_BYTES is %s",
            run.run_id,
            size,
            limits.result,
        )
        return None
    # Plain values: a subclass of dict that a job made for itself could not go through a pipe.
    return json.loads(text)


def _raised(error: BaseException, limits: Limits, *, timed_out: bool = False) -> Raised:
    lines = "".join(tb.format_exception(error))
    name, said = type(error).__name__, _said(error)
    words = f"{name}: {said}" if said else name
    return Raised(
        error=storable_text(words, MAX_ERROR_BYTES), traceback=storable_text(lines, limits.log), timed_out=timed_out
    )


def _said(error: BaseException) -> str:
    """Return an exception's own words; those of a job may fail even at saying them."""
    try:
        return str(error)
    except BaseException as failed:  # noqa: BLE001
        return f"(no words: its __str__ raised {type(failed).__name__})"
