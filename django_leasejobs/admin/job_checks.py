"""What is wrong with a job as it was entered: pairs of a field and the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from django_leasejobs.engine.calendars import known_calendars
from django_leasejobs.exceptions import JobDefinitionError, ScheduleError
from django_leasejobs.models import Job
from django_leasejobs.policies.calendars import Calendar as ReadCalendar
from django_leasejobs.policies.timing import Timing, check_timing
from django_leasejobs.registry import registry

Problem = tuple[str, str]

WHEN = ("schedule", "timezone", "starts_at", "ends_at")
BESIDE_WHEN = ("exclude", "spread", "start_deadline")


def argument_errors(task_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[Problem]:
    """Check arguments as far as this process knows the task."""
    try:
        registry.check_arguments(task_name, args, kwargs)
    except JobDefinitionError as error:
        yield error.field or "args", str(error)


def when_errors(stored: Job | None, given: Mapping[str, Any], now: datetime) -> Iterator[Problem]:
    """Check all that says when a job runs. What was stored so and is not touched may lie in the past."""
    timing = Timing(**{field: given[field] for field in (*WHEN, *BESIDE_WHEN) if field in given})
    untouched = stored is not None and all(getattr(stored, field) == given[field] for field in WHEN)
    try:
        check_timing(timing, name=given["name"], now=None if untouched else now)
    except ScheduleError as error:
        yield ("timezone" if error.field == "timezone" else "schedule"), _sentence(error.reason)
    except JobDefinitionError as error:
        yield error.field, _sentence(error.reason)


def calendar_errors(names: Sequence[str]) -> Iterator[Problem]:
    known = known_calendars(names)
    for name in names:
        if not isinstance(known.get(name), ReadCalendar):
            yield "exclude", _("There is no calendar named %(name)r that can be read.") % {"name": name}


def _sentence(reason: str) -> str:
    return capfirst(reason if reason.endswith((".", "?", "!")) else f"{reason}.")
