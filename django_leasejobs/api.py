"""The front door: ``@job``, ``command_job()``, the handle it returns, ``trigger()``. Thin; the engine does the work.

The engine is imported inside the calls, not above: ``INSTALLED_APPS`` imports this package before models exist.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeVar, overload

from .commands import command_task
from .conf import get_settings
from .definitions import Options, define, task_of
from .exceptions import JobDefinitionError
from .policies.calendars import Calendar
from .registry import Check, JobDefinition, registry

if TYPE_CHECKING:
    from .models import Run

P = ParamSpec("P")
R = TypeVar("R")


class JobHandle(Generic[P, R]):
    """A job's function: a plain call still runs it here and now; ``trigger()`` hands it to a worker."""

    definition: JobDefinition

    def __init__(self, func: Callable[P, R], definition: JobDefinition) -> None:
        functools.update_wrapper(self, func)
        self.func = func
        self.definition = definition

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.func(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<job {self.name!r}>"

    @property
    def name(self) -> str:
        return self.definition.name

    def trigger(
        self,
        *,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        run_after: datetime | None = None,
        idempotency_key: str | None = None,
        triggered_by: str = "",
        ignore_overlap: bool = False,
    ) -> Run:
        """Insert a run of this job now; see ``trigger()``."""
        return trigger(
            self.name,
            args=args,
            kwargs=kwargs,
            run_after=run_after,
            idempotency_key=idempotency_key,
            triggered_by=triggered_by,
            ignore_overlap=ignore_overlap,
        )


class JobDecorator(Protocol):
    """What ``job(...)`` returns; a ``django.tasks`` task is not callable, hence the second form."""

    @overload
    def __call__(self, func: Callable[P, R], /) -> JobHandle[P, R]: ...

    @overload
    def __call__(self, func: Any, /) -> JobHandle[..., Any]: ...


@overload
def job(schedule: Callable[P, R], /) -> JobHandle[P, R]: ...


@overload
def job(schedule: str | None = None, **options: Any) -> JobDecorator: ...


def job(schedule: str | Callable[..., Any] | None = None, **options: Any) -> Any:
    """Register the decorated function as a job.

    ``schedule`` is a cron expression, ``"@every 15m"``, ``"@at 2027-01-01T02:00"`` or nothing (only by hand). The
    other options are those of ``definitions.Options``; durations are seconds, a timedelta or text such as
    ``"15m"``. Raise JobDefinitionError or ScheduleError at import for a definition that can't work.
    """
    if callable(schedule):
        return job()(schedule)
    given = _options(schedule, options)

    def decorate(func: Callable[P, R]) -> JobHandle[P, R]:
        plain, run_by_worker = _callables_of(func)
        return JobHandle(plain, _register(run_by_worker, given))

    return decorate


def task(
    name: str | None = None, *, takes_context: bool = False, atomic: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register the decorated function as a task that jobs in the admin may pick, without a job of its own."""

    def decorate(func: Callable[P, R]) -> Callable[P, R]:
        registry.add_task(task_of(func, name=name, takes_context=takes_context, atomic=atomic))
        return func

    return decorate


def command_job(
    command: str,
    schedule: str | None = None,
    *,
    name: str | None = None,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> JobHandle[[], None]:
    """Register a management command as a job; it is named after the command unless ``name`` is given.

    ``args`` and ``kwargs`` are those of ``call_command``, the other options those of ``@job``. Raise
    JobDefinitionError unless ``LEASEJOBS["COMMANDS"]`` allows the command and its parser takes the arguments.
    """
    run = command_task(command)
    ours = {"name": command if name is None else name, "args": args, "kwargs": kwargs}
    given = _options(schedule, {"description": f"manage.py {command}", **options, **ours})
    # A task of the job's own name, as of @job: who has it defines the job, and whose code lost it retires it.
    definition = _register(run.func, given, check=run.check)
    return JobHandle(functools.partial(run.func, *args, **dict(kwargs or {})), definition)


def calendar(name: str, **days: Any) -> Calendar:
    """Register a calendar that jobs may name in ``exclude``; see ``policies.calendars.Calendar``."""
    made = Calendar(name=name, **days)
    registry.add_calendar(made)
    return made


def trigger(
    name: str,
    *,
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    run_after: datetime | None = None,
    idempotency_key: str | None = None,
    triggered_by: str = "",
    ignore_overlap: bool = False,
) -> Run:
    """Insert a run of the job ``name`` now, or not before ``run_after``; joins the caller's transaction.

    ``args`` and ``kwargs`` stand in for the job's own. A second call with the same ``idempotency_key`` returns the
    first one's run. When the job's overlap policy forbids another run, the returned one is SKIPPED and its
    ``reason`` says why. Raise UnknownJob, or JobDefinitionError for a retired job and for arguments that don't fit.
    """
    from .engine.trigger import Order, trigger_job

    order = Order(
        args=args,
        kwargs=kwargs,
        run_after=run_after,
        idempotency_key=idempotency_key,
        triggered_by=triggered_by,
        ignore_overlap=ignore_overlap,
    )
    return trigger_job(name, order)


def _options(schedule: str | None, options: Mapping[str, Any]) -> Options:
    """Make one value of a job's options; raise JobDefinitionError for one that there isn't."""
    unknown = sorted(set(options) - set(Options.__dataclass_fields__))
    if unknown:
        known = ", ".join(sorted(set(Options.__dataclass_fields__) - {"schedule"}))
        raise JobDefinitionError(f"A job has no option {unknown[0]!r}. Options: {known}.")
    return Options(schedule=schedule, **options)


def _register(func: Callable[..., Any], given: Options, *, check: Check | None = None) -> JobDefinition:
    """Register a function as a task and as the job that these options make of it."""
    made = task_of(func, name=given.name, takes_context=given.takes_context, atomic=given.atomic)
    definition = define(dataclasses.replace(made, check=check), given, default_lease=get_settings().LEASE)
    registry.add_job(definition)
    return definition


def _callables_of(func: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what a plain call does and what a worker does: two things for a ``django.tasks`` task."""
    inner = getattr(func, "func", None)
    if inner is not None and hasattr(func, "module_path"):
        return inner, _handed_over(func)
    return func, func


def _handed_over(task_object: Any) -> Callable[..., Any]:
    """Return a function that runs a ``django.tasks`` task: here, or by the backend that the project chose for it."""
    inner: Callable[..., Any] = task_object.func
    wants_context = bool(getattr(task_object, "takes_context", False))
    backend = type(task_object.get_backend())
    if backend.__module__ in ("django_leasejobs.backend", "django.tasks.backends.immediate"):
        if wants_context:
            raise JobDefinitionError(
                f"{task_object.name!r} takes a TaskContext, which a job has not. Take a RunContext instead:"
                " @job(takes_context=True) on a plain function."
            )
        return inner

    @functools.wraps(inner)
    def enqueue(*args: Any, **kwargs: Any) -> str:
        return str(task_object.enqueue(*args, **kwargs).id)

    if wants_context:
        # Its backend fills in the first parameter.
        signature = inspect.signature(inner)
        vars(enqueue)["__signature__"] = signature.replace(parameters=list(signature.parameters.values())[1:])
    return enqueue


__all__ = ["JobHandle", "calendar", "command_job", "job", "task", "trigger"]
