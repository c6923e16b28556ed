"""System checks: what would go wrong, named before it does."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register
from django.core.management import get_commands
from django.db import connections

from .commands import close_commands
from .conf import get_settings, load
from .engine.transactions import alias
from .exceptions import JobDefinitionError, ScheduleError
from .policies.timing import Timing, check_timing
from .registry import JobDefinition, registry

VENDORS = ("postgresql", "mysql", "sqlite")


@register
def check_settings(**kwargs: Any) -> list[CheckMessage]:
    """E001: a key of LEASEJOBS that is unknown or has a value that can't be used."""
    problems = load(getattr(settings, "LEASEJOBS", {}))[1]
    return [Error(problem.words, hint=problem.hint, id="leasejobs.E001") for problem in problems]


@register
def check_time_zone_support(**kwargs: Any) -> list[CheckMessage]:
    """E002: without USE_TZ instants would be stored as local wall times."""
    if settings.USE_TZ:
        return []
    return [Error("django_leasejobs needs USE_TZ = True.", hint="Set USE_TZ = True.", id="leasejobs.E002")]


@register
def check_database(**kwargs: Any) -> list[CheckMessage]:
    """E003 to E004: a database that can't hold the job tables, or whose connections are not in UTC."""
    using = alias()
    connection = connections[using]
    if connection.vendor not in VENDORS:
        words = f"django_leasejobs can't use the database {using!r} of the vendor {connection.vendor!r}."
        return [Error(words, hint=f"Point LEASEJOBS['DATABASE'] at one of: {', '.join(VENDORS)}.", id="leasejobs.E003")]
    if connection.vendor != "postgresql" and connection.settings_dict.get("TIME_ZONE") not in (None, "UTC"):
        words = f"DATABASES[{using!r}]['TIME_ZONE'] makes the database store local wall times."
        return [Error(words, hint="Remove it, or set it to 'UTC'.", id="leasejobs.E004")]
    return []


@register
def check_refused_definitions(**kwargs: Any) -> list[CheckMessage]:
    """E005: a definition in code that can't work; the rest of its module was not loaded."""
    return [Error(item.words, obj=item.place, id="leasejobs.E005") for item in registry.refused]


@register
def check_short_leases(**kwargs: Any) -> list[CheckMessage]:
    """W001: a code-defined job that leases for so short that a pause of its worker costs the run."""
    short = [item for item in registry.jobs.values() if item.lease.total_seconds() < 2]
    return [
        checks.Warning(
            f"The lease of job {item.name!r} is {item.lease.total_seconds():g} s: a short stall loses it.",
            hint="Ten seconds or more suit most; a lease is renewed, it need not cover the run.",
            id="leasejobs.W001",
        )
        for item in short
    ]


@register
def check_calendars(**kwargs: Any) -> list[CheckMessage]:
    """W002: a job excludes a calendar that no code defines; the admin may."""
    return [
        checks.Warning(
            f"Job {item.name!r} excludes the calendar {name!r}, which no code defines.",
            hint="Define it with django_leasejobs.calendar(), or in the admin.",
            id="leasejobs.W002",
        )
        for item in registry.jobs.values()
        for name in item.exclude
        if name not in registry.calendars
    ]


@register
def check_dates(**kwargs: Any) -> list[CheckMessage]:
    """W003: a job whose date or end has passed, which is no fault once it has run; so it stops nothing."""
    return [
        checks.Warning(
            f"Job {item.name!r} will not run any more: {words}",
            hint="If it has done its work, remove it from the code; else give it another date.",
            id="leasejobs.W003",
        )
        for item in registry.jobs.values()
        if (words := _passed(item, datetime.now(UTC)))
    ]


@register
def check_commands(**kwargs: Any) -> list[CheckMessage]:
    """W004: an allowed command that there is not; runs of it wait for a worker whose code has it."""
    return [
        checks.Warning(
            f"LEASEJOBS['COMMANDS'] names {name!r}, which is no management command of this project.",
            hint=close_commands(name) or "Correct it, or install the app that has it.",
            id="leasejobs.W004",
        )
        for name in get_settings().COMMANDS
        if name not in get_commands()
    ]


def _passed(item: JobDefinition, now: datetime) -> str:
    """Say why a job that names a date has no instant to come; nothing for all others."""
    if item.ends_at is None and not item.schedule.lower().startswith("@at"):
        return ""
    timing = Timing(schedule=item.schedule, timezone=item.timezone, starts_at=item.starts_at, ends_at=item.ends_at)
    try:
        check_timing(timing, name=item.name, now=now)
    except (ScheduleError, JobDefinitionError) as error:
        return error.reason
    return ""
