"""Dates, times and lengths of time as people give them to commands."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

from django.core.management.base import CommandError

from django_leasejobs.durations import A_MOMENT, parse_duration
from django_leasejobs.exceptions import DurationError

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_EXAMPLES = "write for example 2027-03-27, 2027-03-27T02:30 or 2027-03-27T02:30+01:00"
A_DAY = timedelta(days=1)


def read_instant(option: str, text: str, zone: tzinfo, *, whole_day: bool = False) -> datetime:
    """Return the instant in UTC; without an offset it is local to ``zone``. Raise CommandError.

    A day alone means its first moment, or its last one for the end of a range (``whole_day``).
    """
    try:
        given = datetime.fromisoformat(text.strip())
        if whole_day and _DAY.fullmatch(text.strip()):
            given += A_DAY - A_MOMENT
        return (given if given.tzinfo is not None else given.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise CommandError(f"{option} {text!r} is not a date or time; {_EXAMPLES}.") from None


def read_seconds(option: str, text: str, *, lowest: float = 0) -> float:
    """Return a length of time in seconds; raise CommandError for none, and for one below ``lowest``."""
    try:
        seconds = parse_duration(text).total_seconds()
    except DurationError as error:
        raise CommandError(f"{option}: {error}") from None
    if seconds < lowest:
        raise CommandError(f"{option} {text!r}: at least {lowest:g} s is needed.")
    return seconds


def local(instant: datetime, zone: tzinfo) -> str:
    """Write an instant as the clock on the wall shows it, with its offset."""
    wall = instant.astimezone(zone)
    return f"{wall:%a} {wall.isoformat(' ', 'seconds' if wall.second else 'minutes')}"
