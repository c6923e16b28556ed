"""From the text of a schedule to the schedule."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from functools import lru_cache

from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.schedules.base import ManualSchedule, Schedule, in_utc
from django_leasejobs.schedules.cron import CronSchedule, read_fields
from django_leasejobs.schedules.every import read_every
from django_leasejobs.schedules.local_time import local_clock
from django_leasejobs.schedules.once import read_at
from django_leasejobs.schedules.zones import zone

LONGEST_TEXT = 1000

_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


def parse(text: str, timezone: str = "UTC", *, name: str = "", anchor: datetime | None = None) -> Schedule:
    """Return the schedule that this text stands for in a time zone.

    ``name`` is the job's, from which ``H`` is hashed; ``anchor`` is where the grid of ``@every`` starts (the
    epoch by default). Raise ScheduleError, whose ``field`` and ``reason`` say what is wrong, for bad text, a
    bad zone, and an expression that never fires.
    """
    if not isinstance(text, str):
        raise ScheduleError(f"a schedule is text such as '0 2 * * *', not {text!r}")
    key = str(zone(timezone))
    text = _checked(text)
    is_grid = text.lower().startswith("@every")
    hashed_from = name if "h" in text.lower() and not text.startswith("@") else ""
    return _parse(text, key, hashed_from, in_utc(anchor) if anchor is not None and is_grid else None)


@lru_cache(maxsize=4096)
def _parse(text: str, timezone: str, name: str, anchor: datetime | None) -> Schedule:
    if not text:
        return ManualSchedule(timezone)
    clock = local_clock(zone(timezone))
    if text.startswith("@"):
        nickname = text.split()[0].lower()
        if nickname == "@every":
            return read_every(text, timezone, anchor)
        if nickname == "@at":
            return read_at(text, timezone, clock)
        texts = _fields_of_nickname(text).split()
    else:
        texts = text.split()
        _check_count(text, texts)
    return CronSchedule(text, timezone, read_fields(texts, name), clock)


def _checked(text: str) -> str:
    """Strip blanks; refuse signs that are no plain ASCII, and more text than any schedule needs."""
    text = text.strip(" \t\r\n")
    if len(text) > LONGEST_TEXT:
        raise ScheduleError(f"{text[:40]!r}... is longer than {LONGEST_TEXT} signs")
    for sign in text:
        if not " " <= sign <= "~" and sign != "\t":
            called = unicodedata.name(sign, "a control character")
            raise ScheduleError(f"{sign!r} ({called}) is not plain ASCII; type the schedule with plain signs")
    return text


def _fields_of_nickname(text: str) -> str:
    nickname = text.lower()
    if nickname in _NICKNAMES:
        return _NICKNAMES[nickname]
    if nickname.split()[0] == "@reboot":
        raise ScheduleError(
            "'@reboot' names no time, so it can't be a schedule; let the machine's services start the command"
        )
    if nickname.split()[0] in _NICKNAMES:
        raise ScheduleError(f"{text!r}: nothing may follow {nickname.split()[0]!r}")
    known = ", ".join((*_NICKNAMES, "@every", "@at"))
    raise ScheduleError(f"{text.split()[0]!r} is not known; there are {known}")


def _check_count(text: str, texts: list[str]) -> None:
    if text.startswith("#"):
        raise ScheduleError(f"{text!r}: this is a comment, not a schedule")
    for number, field in enumerate(texts):
        if field.startswith("#"):
            raise ScheduleError(
                f"{' '.join(texts[number:])!r}: a comment can't follow a schedule; use the job's description"
            )
    if len(texts) == 5:
        return
    if len(texts) == 6:
        raise ScheduleError(
            f"{text!r} has six fields; write five, without seconds, or '@every 30s' for intervals in seconds"
        )
    if len(texts) == 7:
        raise ScheduleError(
            f"{text!r} has seven fields; write five, without seconds and year, or use '@every 30s' or '@at'"
        )
    raise ScheduleError(
        f"{text!r} has {len(texts)} field{'s' if len(texts) != 1 else ''}; "
        "write five: minute, hour, day of month, month, day of week"
    )
