"""What is wrong with a job as it was entered: pairs of a field and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from django_leasejobs.commands import require_allowed, run_command
from django_leasejobs.engine.calendars import known_calendars
from django_leasejobs.exceptions import JobDefinitionError, ScheduleError
from django_leasejobs.models import Job
from django_leasejobs.policies.calendars import Calendar as ReadCalendar
from django_leasejobs.policies.planning import first_instant
from django_leasejobs.registry import registry, require_json
from django_leasejobs.schedules import Schedule, parse

Problem = tuple[str, str]

WHEN = ("schedule", "timezone", "starts_at", "ends_at")
NEED_A_SCHEDULE = ("starts_at", "ends_at", "start_deadline", "exclude")


def argument_errors(task_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Problem]:
    """Check arguments against the task; one that this process doesn't know can't be asked."""
    for field, value in (("args", args), ("kwargs", kwargs)):
        try:
            require_json(value, what="the value")
        except JobDefinitionError as error:
            yield field, str(error)
            return
    task = registry.tasks.get(task_name)
    if task is None:
        return
    try:
        task.check_arguments(args, kwargs)
        if task.func is run_command:
            require_allowed(args[0] if args else kwargs["command"])
    except JobDefinitionError as error:
        yield "kwargs" if kwargs or (not args and _takes_keywords(error)) else "args", str(error)


def when_errors(stored: Job | None, given: Mapping[str, Any], now: datetime) -> Iterator[Problem]:
    """Check all that says when a job runs. What was stored so and is not touched may lie in the past."""
    text, starts_at, ends_at = given["schedule"].strip(), given.get("starts_at"), given.get("ends_at")
    if not text:
        for field in NEED_A_SCHEDULE:
            if given.get(field):
                yield field, _("It needs a schedule; this job has none.")
    if starts_at and ends_at and ends_at <= starts_at:
        yield "ends_at", _("It must be after the start.")
        return
    try:
        schedule = parse(text, given["timezone"], name=given["name"], anchor=starts_at)
    except ScheduleError as error:
        yield ("timezone" if error.field == "timezone" else "schedule"), _full_stop(error.reason)
        return
    untouched = stored is not None and all(getattr(stored, field) == given.get(field) for field in WHEN)
    if text and not untouched:
        yield from _nothing_to_come(schedule, starts_at, ends_at, now)


def calendar_errors(names: Sequence[str]) -> Iterator[Problem]:
    known = known_calendars(names)
    for name in names:
        if not isinstance(known.get(name), ReadCalendar):
            yield "exclude", _("There is no calendar named %(name)r that can be read.") % {"name": name}


def _nothing_to_come(
    schedule: Schedule, starts_at: datetime | None, ends_at: datetime | None, now: datetime
) -> Iterator[Problem]:
    if first_instant(schedule, now=now, starts_at=starts_at, ends_at=ends_at) is not None:
        return
    first_ever = first_instant(schedule, now=now, starts_at=starts_at)
    if first_ever is None and first_instant(schedule, now=now) is None:
        yield "schedule", _("It has no instant to come: the time has passed.")
    elif first_ever is None:
        yield "starts_at", _("The schedule has no instant after it.")
    else:
        yield "ends_at", _("The schedule has no instant before it; the first is %(first)s.") % {"first": first_ever}


def _takes_keywords(error: JobDefinitionError) -> bool:
    """Whether the complaint is about something that is missing, which is best given by its name."""
    return "missing" in str(error)


def _full_stop(reason: str) -> str:
    return reason if reason.endswith((".", "?", "!")) else f"{reason}."
