"""Names to code-defined tasks, jobs and calendars. The only way for a worker to find code to run."""

from __future__ import annotations

import difflib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, TypeGuard

from .exceptions import JobDefinitionError, UnknownTask
from .policies.calendars import Calendar
from .policies.overlap import Overlap
from .policies.planning_values import CatchUp

# The tasks of management commands; no other task may take such a name.
COMMAND_PREFIX = "manage.py "
# MariaDB takes no more, MySQL 100; with thousands a value can't be handed to another process either.
MOST_LEVELS = 30
Check = Callable[[Sequence[Any], Mapping[str, Any]], None]
_MARKUP = re.compile(r"(?::[\w:]+:)?`+~?([^`]*)`+_*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A callable under a name. ``check`` refuses arguments that fit the function, but not what it calls."""

    name: str
    func: Callable[..., Any]
    takes_context: bool = False
    atomic: bool = False
    check: Check | None = None

    @property
    def description(self) -> str:
        """The function's docstring as plain text, without the backticks of its markup."""
        return _MARKUP.sub(r"\1", inspect.getdoc(self.func) or "")

    @property
    def where(self) -> str:
        """The module and qualified name of the function, for people."""
        return f"{self.func.__module__}.{self.func.__qualname__}"

    @property
    def place(self) -> str:
        """The file and line of the function, for people; empty where there is none."""
        code = getattr(inspect.unwrap(self.func), "__code__", None)
        return "" if code is None else f"{code.co_filename}:{code.co_firstlineno}"

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.func)

    @property
    def signature(self) -> inspect.Signature:
        """The parameters that a job's arguments must fit: the function's, without the context."""
        signature = inspect.signature(self.func)
        if not self.takes_context:
            return signature
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    def check_arguments(self, args: object, kwargs: object) -> None:
        """Raise JobDefinitionError unless the arguments are JSON and fit the function and what it calls.

        Its ``field`` is ``args`` or ``kwargs``, whichever is at fault or could best be added to.
        """
        _require_json_arguments(self.name, args, kwargs)
        if not isinstance(args, list | tuple):
            raise JobDefinitionError(f"The arguments of {self.name!r} must be a list, not {args!r}.", field="args")
        if not isinstance(kwargs, Mapping) or not all(isinstance(key, str) for key in kwargs):
            words = f"The keyword arguments of {self.name!r} must be a dict with text keys, not {kwargs!r}."
            raise JobDefinitionError(words, field="kwargs")
        signature = self.signature
        if why := _unknown_keywords(signature, kwargs):
            raise JobDefinitionError(f"The arguments don't fit {self.name!r} {signature}: {why}", field="kwargs")
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            words = f"The arguments don't fit {self.name!r} {signature}: {error}."
            raise JobDefinitionError(words, field="kwargs" if kwargs or not args else "args") from None
        if self.check is not None:
            self.check(args, kwargs)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDefinition:
    """What code says about a job; the names are those of the job table's columns."""

    name: str
    task: Task
    description: str
    args: list[Any]
    kwargs: dict[str, Any]
    schedule: str
    timezone: str
    starts_at: datetime | None
    ends_at: datetime | None
    exclude: list[str]
    spread: timedelta
    queue: str
    priority: int
    retries: int
    backoff: timedelta
    max_lost: int
    lease: timedelta
    timeout: timedelta | None
    overlap: Overlap
    catch_up: CatchUp
    start_deadline: timedelta | None
    pause_after_failures: int | None
    enabled: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """A definition that could not be loaded: where it is and what is wrong with it."""

    place: str
    words: str


@dataclass(slots=True)
class Registry:
    """What the code of this process defines, and what of it could not be loaded."""

    tasks: dict[str, Task] = field(default_factory=dict)
    jobs: dict[str, JobDefinition] = field(default_factory=dict)
    calendars: dict[str, Calendar] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)

    def add_task(self, task: Task) -> None:
        """Register a task; raise JobDefinitionError when the name is taken by another function."""
        known = self.tasks.get(task.name)
        if known is not None and (known.where, known.place) != (task.where, task.place):
            raise JobDefinitionError(
                f"Two tasks are named {task.name!r}: {known.where} and {task.where} ({known.place} and {task.place})."
                " Give one of them another name=."
            )
        self.tasks[task.name] = task

    def add_job(self, definition: JobDefinition) -> None:
        """Register a job and its task; raise JobDefinitionError when the name is taken."""
        self.add_task(definition.task)
        known = self.jobs.get(definition.name)
        if known is not None and replace(known, task=definition.task) != definition:
            raise JobDefinitionError(
                f"Two jobs of {definition.task.where} are named {definition.name!r}. Give one of them another name=."
            )
        self.jobs[definition.name] = definition

    def add_calendar(self, calendar: Calendar) -> None:
        """Register a calendar for ``exclude``; raise JobDefinitionError when the name means another one."""
        if self.calendars.get(calendar.name, calendar) != calendar:
            raise JobDefinitionError(f"Two calendars are named {calendar.name!r}. Give one of them another name.")
        self.calendars[calendar.name] = calendar

    def get_task(self, name: str) -> Task:
        """Return the task of this name; raise UnknownTask with what is known."""
        try:
            return self.tasks[name]
        except KeyError:
            known = ", ".join(sorted(self.tasks)) or "none"
            raise UnknownTask(f"No task is registered under {name!r}. Known: {known}.") from None

    def check_arguments(self, task_name: str, args: object, kwargs: object) -> None:
        """Check as ``Task.check_arguments`` does; those of a task that this process doesn't know must be JSON."""
        task = self.tasks.get(task_name)
        if task is None:
            _require_json_arguments(task_name, args, kwargs)
        else:
            task.check_arguments(args, kwargs)


registry = Registry()


def _unknown_keywords(signature: inspect.Signature, kwargs: Mapping[str, Any]) -> str:
    """Name what no parameter takes: Python names it only where no other argument is missing."""
    parameters = signature.parameters.values()
    if any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters):
        return ""
    known = [item.name for item in parameters if item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)]
    unknown = [name for name in kwargs if name not in known]
    if not unknown:
        return ""
    words = f"no parameter takes the keyword {' or '.join(map(repr, unknown))}"
    close = [match for name in unknown for match in difflib.get_close_matches(name, known, n=1)]
    return f"{words}; did you mean {' and '.join(map(repr, close))}?" if close else f"{words}."


def _require_json_arguments(task_name: str, args: object, kwargs: object) -> None:
    require_json(args, what=f"the arguments of {task_name!r}", field="args")
    require_json(kwargs, what=f"the keyword arguments of {task_name!r}", field="kwargs")


def require_json(value: object, *, what: str, field: str = "") -> None:
    """Raise JobDefinitionError unless ``value`` survives JSON as every database stores it."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        # Half a surrogate pair passes for text in Python, and no database takes it.
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        words = f"{what[0].upper()}{what[1:]} can't be stored as JSON: {error} in {_shown(value)}."
        raise JobDefinitionError(words, field=field) from None
    if text.count("[") + text.count("{") > MOST_LEVELS and _is_deeper(value, MOST_LEVELS):
        words = f"{what[0].upper()}{what[1:]} have more than {MOST_LEVELS} levels of nesting, which MariaDB refuses."
        raise JobDefinitionError(words, field=field)
    if "\\u0000" in text:
        words = f"{what[0].upper()}{what[1:]} hold a NUL character, which PostgreSQL refuses: {_shown(value)}."
        raise JobDefinitionError(words, field=field)


def _is_deeper(value: object, levels: int) -> bool:
    """Tell whether lists and dicts stand in each other on more than so many levels."""
    level = [value]
    for _ in range(levels):
        containers = [item.values() if isinstance(item, dict) else item for item in level if _holds_others(item)]
        level = [inner for container in containers for inner in container]
    return any(_holds_others(item) for item in level)


def _holds_others(value: object) -> TypeGuard[dict[str, Any] | list[Any] | tuple[Any, ...]]:
    return isinstance(value, dict | list | tuple)


def _shown(value: object) -> str:
    """Return the repr of a value; one that is nested too deeply, or that a project wrote, may have none."""
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001
        return f"a {type(value).__name__} whose repr raises {type(error).__name__}"
