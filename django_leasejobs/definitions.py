"""From the arguments of ``@job`` to a checked definition. Pure: no database, no Django."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from .durations import parse_duration
from .exceptions import DurationError, JobDefinitionError, ScheduleError
from .policies.calendars import MAX_NAME as LONGEST_CALENDAR_NAME
from .policies.limits import (
    HIGHEST_PRIORITY,
    LARGEST_COUNT,
    LONGEST_NAME,
    LONGEST_QUEUE_NAME,
    LOWEST_PRIORITY,
    SHORTEST_LEASE,
    SHORTEST_START_DEADLINE,
    SHORTEST_TIMEOUT,
)
from .policies.overlap import Overlap
from .policies.planning_values import CatchUp
from .policies.timing import ZERO, Timing, check_timing
from .registry import COMMAND_PREFIX, JobDefinition, Task

Duration = timedelta | int | float | str
E = TypeVar("E", Overlap, CatchUp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The arguments of ``@job`` as they were given."""

    schedule: str | None = None
    name: str | None = None
    description: str | None = None
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] | None = None
    timezone: str = "UTC"
    queue: str = "default"
    priority: int = 0
    retries: int = 0
    backoff: Duration = 10
    max_lost: int = 3
    lease: Duration | None = None
    timeout: Duration | None = None
    overlap: str = "skip"
    catch_up: str = "latest"
    start_deadline: Duration | None = None
    spread: Duration = 0
    exclude: Sequence[str] = ()
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    pause_after_failures: int | None = None
    atomic: bool = False
    takes_context: bool = False
    enabled: bool = True


def task_of(func: object, *, name: str | None, takes_context: bool, atomic: bool) -> Task:
    """Check a function and make a task of it; raise JobDefinitionError for one that a worker couldn't find or call."""
    if not callable(func) or not hasattr(func, "__qualname__"):
        raise JobDefinitionError(f"A job needs a function, not {func!r}.")
    if "<" in func.__qualname__ or "." in func.__qualname__:
        raise JobDefinitionError(
            f"{func.__module__}.{func.__qualname__} can't be a job: a worker must be able to import it."
            " Define the function at module level."
        )
    if inspect.isgeneratorfunction(func) or inspect.isasyncgenfunction(func):
        raise JobDefinitionError(f"{func.__qualname__} is a generator: calling it would run none of its code.")
    if takes_context and next(iter(inspect.signature(func).parameters), None) != "context":
        raise JobDefinitionError(
            f"{func.__qualname__} has takes_context=True, so its first parameter must be named 'context'."
        )
    if atomic and inspect.iscoroutinefunction(func):
        raise JobDefinitionError(
            f"{func.__qualname__} is async and atomic: Django has no async transactions. Use context.guard() in"
            " sync_to_async code instead."
        )
    return Task(name=_name(name, default=default_name(func)), func=func, takes_context=takes_context, atomic=atomic)


def default_name(func: Callable[..., Any]) -> str:
    """Name a function by its app and itself: ``shop/jobs.py:report`` is ``shop.report``."""
    parts = [part for part in func.__module__.split(".") if part not in ("jobs", "tasks")]
    return f"{parts[-1]}.{func.__name__}" if parts else func.__name__


def define(task: Task, options: Options, *, default_lease: timedelta) -> JobDefinition:
    """Check all options; raise JobDefinitionError or ScheduleError that names the job, the option and the reason."""
    reader = _Reader(task.name)
    args, kwargs = reader.arguments(options)
    task.check_arguments(args, kwargs)
    timing = reader.timing(options)
    return JobDefinition(
        name=task.name,
        task=task,
        description=reader.description(options.description, task),
        args=args,
        kwargs=kwargs,
        schedule=timing.schedule,
        timezone=timing.timezone,
        starts_at=timing.starts_at,
        ends_at=timing.ends_at,
        exclude=list(timing.exclude),
        spread=timing.spread,
        queue=reader.text("queue", options.queue, LONGEST_QUEUE_NAME),
        priority=reader.whole("priority", options.priority, LOWEST_PRIORITY, HIGHEST_PRIORITY),
        retries=reader.whole("retries", options.retries, 0, LARGEST_COUNT),
        backoff=reader.duration("backoff", options.backoff) or ZERO,
        max_lost=reader.whole("max_lost", options.max_lost, 0, LARGEST_COUNT),
        lease=reader.duration("lease", options.lease, lowest=SHORTEST_LEASE) or default_lease,
        timeout=reader.duration("timeout", options.timeout, lowest=SHORTEST_TIMEOUT),
        overlap=reader.choice("overlap", options.overlap, Overlap),
        catch_up=reader.choice("catch_up", options.catch_up, CatchUp),
        start_deadline=timing.start_deadline,
        pause_after_failures=reader.whole_or_none(
            "pause_after_failures", options.pause_after_failures, 1, LARGEST_COUNT
        ),
        enabled=reader.flag("enabled", options.enabled),
    )


def _name(name: object, *, default: str) -> str:
    if name is None:
        return default
    if not isinstance(name, str) or not name.strip() or name != name.strip() or not name.isprintable():
        raise JobDefinitionError(
            f"A job's name must be a printable text without blanks at its ends, not {name!r}.", field="name"
        )
    if name.startswith(COMMAND_PREFIX):
        words = f"{name!r} is the name of a management command's own task. Give the job another name."
        raise JobDefinitionError(words, field="name")
    if len(name) > LONGEST_NAME:
        words = f"A job's name may have {LONGEST_NAME} characters, {name[:20]!r}... has {len(name)}."
        raise JobDefinitionError(words, field="name")
    return name


class _Reader:
    """Reads single options and names the job in what it refuses."""

    def __init__(self, job: str) -> None:
        self.job = job

    def error(self, option: str, value: object, why: str) -> JobDefinitionError:
        return JobDefinitionError(f"Job {self.job!r}: {option}={value!r}: {why}", field=option, reason=why)

    def duration(self, option: str, value: Duration | None, *, lowest: timedelta = timedelta(0)) -> timedelta | None:
        if value is None:
            return None
        try:
            read = parse_duration(value)
        except DurationError as error:
            raise self.error(option, value, str(error)) from None
        if read < lowest:
            raise self.error(option, value, f"at least {lowest.total_seconds():g} s and at most 100 years is needed.")
        return read

    def whole(self, option: str, value: object, lowest: int, highest: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
            raise self.error(option, value, f"a whole number from {lowest} to {highest} is needed.")
        return value

    def whole_or_none(self, option: str, value: object, lowest: int, highest: int) -> int | None:
        return None if value is None else self.whole(option, value, lowest, highest)

    def text(self, option: str, value: object, longest: int) -> str:
        if not isinstance(value, str) or not value.strip() or len(value) > longest or not value.isprintable():
            raise self.error(option, value, f"a printable text of 1 to {longest} characters is needed.")
        return value

    def names(self, option: str, value: object) -> list[str]:
        if isinstance(value, str) or not isinstance(value, list | tuple):
            raise self.error(option, value, "a list of calendar names is needed.")
        return [self.text(option, item, LONGEST_CALENDAR_NAME) for item in value]

    def choice(self, option: str, value: str, kind: type[E]) -> E:
        try:
            return kind(value)
        except ValueError:
            raise self.error(option, value, f"one of {', '.join(kind)} is needed.") from None

    def flag(self, option: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise self.error(option, value, "True or False is needed.")
        return value

    def arguments(self, options: Options) -> tuple[list[Any], dict[str, Any]]:
        args: object = options.args
        kwargs: object = {} if options.kwargs is None else options.kwargs
        if not isinstance(args, list | tuple):
            raise self.error("args", args, "a list or tuple is needed.")
        if not isinstance(kwargs, Mapping):
            raise self.error("kwargs", kwargs, "a dict is needed.")
        return list(args), dict(kwargs)

    def description(self, value: object, task: Task) -> str:
        if value is None:
            return task.description.partition("\n\n")[0]
        if not isinstance(value, str):
            raise self.error("description", value, "a text is needed.")
        return value

    def schedule(self, value: object) -> str:
        if value is not None and not isinstance(value, str):
            raise self.error("schedule", value, "a text such as '0 2 * * *' is needed.")
        return (value or "").strip()

    def timing(self, options: Options) -> Timing:
        """Read all that says when the job runs, and check that it makes sense together."""
        timing = Timing(
            schedule=self.schedule(options.schedule),
            timezone=options.timezone,
            starts_at=options.starts_at,
            ends_at=options.ends_at,
            exclude=self.names("exclude", options.exclude),
            spread=self.duration("spread", options.spread) or ZERO,
            start_deadline=self.duration("start_deadline", options.start_deadline, lowest=SHORTEST_START_DEADLINE),
        )
        try:
            check_timing(timing, name=self.job)
        except ScheduleError as error:
            words = f"{error.reason} (job {self.job!r}: {timing.schedule!r})"
            raise ScheduleError(words, field=error.field) from None
        except JobDefinitionError as error:
            raise self.error(error.field, getattr(options, error.field), error.reason) from None
        return timing
