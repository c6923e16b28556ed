"""The parts of a calendar as people write them. Each reader raises ValueError with the way out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, tzinfo

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FULL_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
A_LEAP_YEAR = 2000
MAX_ITEMS = 1_000

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_YEARLY = re.compile(r"(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d(:\d\d)?", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d(:\d\d)?)?", re.ASCII)


def items_of(value: object) -> list[object]:
    """Return the members of a list, tuple or set; a lone text would fall to letters and is refused."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ValueError("a list is needed")
    items = list(value)
    if len(items) > MAX_ITEMS:
        raise ValueError(f"at most {MAX_ITEMS} entries are possible, not {len(items)}")
    return items


def read_day(item: object) -> date:
    """Read ``"2026-12-24"``, or take a date."""
    if isinstance(item, date) and not isinstance(item, datetime):
        return item
    if isinstance(item, str) and _DAY.fullmatch(item):
        return date.fromisoformat(item)
    raise ValueError("a date is needed, such as '2026-12-24'")


def read_weekday(item: object) -> int:
    """Read ``"sat"`` or ``"Saturday"``; Monday is 0. Numbers are refused: cron counts them in another way."""
    if isinstance(item, str):
        for names in (WEEKDAYS, FULL_WEEKDAYS):
            if item.lower() in names:
                return names.index(item.lower())
    raise ValueError(f"the name of a weekday is needed, one of {', '.join(WEEKDAYS)}")


def read_yearly(item: object) -> tuple[int, int]:
    """Read ``"12-25"`` as month and day. 29 February comes in leap years only."""
    if isinstance(item, str) and (match := _YEARLY.fullmatch(item)):
        day = date(A_LEAP_YEAR, int(match[1]), int(match[2]))
        return day.month, day.day
    raise ValueError("a month and a day are needed, such as '12-25'")


def read_daily(item: object) -> tuple[time, time]:
    """Read ``"22:00-06:00"``, or a pair of times or of texts."""
    start, end = (_time(part) for part in _pair(item, "-", "'22:00-06:00'"))
    if start == end:
        raise ValueError("it starts and ends at the same time; for whole days list them as days or weekdays")
    return start, end


def read_window(item: object, zone: tzinfo) -> tuple[datetime, datetime]:
    """Read ``"2026-12-20T18:00/2027-01-02T06:00"``, or a pair of datetimes or texts, as instants in UTC."""
    example = "'2026-12-20T18:00/2027-01-02T06:00'"
    start, end = (_moment(part, zone) for part in _pair(item, "/", example))
    if end <= start:
        raise ValueError("it ends before it starts")
    return start, end


def write_daily(hours: tuple[time, time]) -> str:
    """Write what ``read_daily`` reads."""
    return "-".join(part.isoformat("seconds" if part.second else "minutes") for part in hours)


def write_window(window: tuple[datetime, datetime], zone: tzinfo) -> str:
    """Write what ``read_window`` reads, in local time with its offset."""
    return "/".join(part.astimezone(zone).isoformat() for part in window)


def _pair(item: object, separator: str, example: str) -> tuple[object, object]:
    parts: list[object] = []
    if isinstance(item, str):
        parts = [part.strip() for part in item.split(separator)]
    elif isinstance(item, list | tuple):
        parts = list(item)
    if len(parts) != 2:
        raise ValueError(f"a start and an end are needed, such as {example}")
    return parts[0], parts[1]


def _time(part: object) -> time:
    if isinstance(part, time) and part.tzinfo is None and not part.microsecond:
        return part.replace(fold=0)
    if isinstance(part, str) and part.startswith("24:"):
        raise ValueError("a day ends at 00:00, not at 24:00")
    if isinstance(part, str) and _TIME.fullmatch(part):
        return time.fromisoformat(part)
    raise ValueError(f"a local time such as '22:00' is needed, not {part!r}")


def _moment(part: object, zone: tzinfo) -> datetime:
    if isinstance(part, str) and _MOMENT.fullmatch(part):
        part = datetime.fromisoformat(part)
    if not isinstance(part, datetime):
        raise ValueError(f"a date with a time such as '2026-12-20T18:00' is needed, not {part!r}")
    try:
        return (part if part.utcoffset() is not None else part.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{part.isoformat()} is too far away") from None
