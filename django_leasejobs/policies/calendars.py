"""Named calendars of days and windows on which jobs that exclude them do not run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, tzinfo
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeVar

from django_leasejobs.exceptions import JobDefinitionError, ScheduleError
from django_leasejobs.schedules import zone

from . import calendar_text as text

T = TypeVar("T")

MAX_NAME = 100
PARTS = ("days", "weekdays", "yearly", "windows", "daily")
KEYS = ("name", "timezone", *PARTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a calendar covers, ready to be looked up: days and hours are local, windows in UTC."""

    zone: tzinfo
    days: frozenset[date]
    weekdays: frozenset[int]
    yearly: frozenset[tuple[int, int]]
    windows: tuple[tuple[datetime, datetime], ...]
    daily: tuple[tuple[time, time], ...]


@dataclass(frozen=True, slots=True)
class Calendar:
    """Days and windows in one time zone. Once made, its fields hold the canonical texts, sorted.

    - ``days``: dates, ``date(2026, 12, 24)`` or ``"2026-12-24"``;
    - ``weekdays``: names such as ``"sat"`` or ``"Saturday"``;
    - ``yearly``: days of each year, ``"12-25"``;
    - ``windows``: from one time up to, not including, another: ``"2026-12-20T18:00/2027-01-02T06:00"``, or a
      pair of texts or datetimes; a time without an offset is local to ``timezone``;
    - ``daily``: hours of each day, ``"22:00-06:00"``, or a pair of texts or times; the end is not included,
      and one that is before the start is on the next day.

    Raise JobDefinitionError for anything else; it names the calendar, the part and the value.
    """

    name: str
    timezone: str = "UTC"
    days: Iterable[object] = ()
    weekdays: Iterable[object] = ()
    yearly: Iterable[object] = ()
    windows: Iterable[object] = ()
    daily: Iterable[object] = ()
    rules: Rules = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_name()
        local = self._zone()
        rules = Rules(
            zone=local,
            days=frozenset(self._read("days", text.read_day)),
            weekdays=frozenset(self._read("weekdays", text.read_weekday)),
            yearly=frozenset(self._read("yearly", text.read_yearly)),
            windows=tuple(sorted(set(self._read("windows", partial(text.read_window, zone=local))))),
            daily=tuple(sorted(set(self._read("daily", text.read_daily)))),
        )
        canonical = {
            "days": [day.isoformat() for day in sorted(rules.days)],
            "weekdays": [text.WEEKDAYS[weekday] for weekday in sorted(rules.weekdays)],
            "yearly": [f"{month:02}-{day:02}" for month, day in sorted(rules.yearly)],
            "windows": [text.write_window(window, local) for window in rules.windows],
            "daily": [text.write_daily(hours) for hours in rules.daily],
        }
        for part, texts in canonical.items():
            object.__setattr__(self, part, tuple(texts))
        object.__setattr__(self, "rules", rules)

    def covers(self, instant: datetime) -> bool:
        """Whether the calendar covers an aware instant; raise ValueError for a naive one."""
        if instant.utcoffset() is None:
            raise ValueError(f"A calendar is asked about aware instants, not the naive {instant!r}.")
        rules = self.rules
        local = instant.astimezone(rules.zone)
        return (
            local.date() in rules.days
            or local.weekday() in rules.weekdays
            or (local.month, local.day) in rules.yearly
            or any(_within(local.time(), start, end) for start, end in rules.daily)
            or _in_a_window(instant.astimezone(UTC), rules.windows)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values from which ``from_dict`` makes an equal calendar; empty parts are left out."""
        parts = {part: list(getattr(self, part)) for part in PARTS if getattr(self, part)}
        return {"name": self.name, "timezone": self.timezone, **parts}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calendar:
        """Make a calendar from JSON values; raise JobDefinitionError, for unknown keys too."""
        if not isinstance(values, Mapping):
            raise JobDefinitionError(f"A calendar is a mapping with the keys {', '.join(KEYS)}, not {values!r}.")
        if "name" not in values:
            raise JobDefinitionError(f"A calendar needs a name: {dict(values)!r}.")
        for key in values:
            if key not in KEYS:
                close = get_close_matches(str(key), KEYS, n=1)
                advice = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(KEYS)}."
                raise JobDefinitionError(f"Calendar {values['name']!r}: unknown key {key!r}; {advice}")
        return cls(**values)

    def _check_name(self) -> None:
        name: object = self.name
        if not isinstance(name, str) or not name.isprintable() or name != name.strip() or not name:
            raise JobDefinitionError(f"A calendar's name is printable text without blanks at its ends, not {name!r}.")
        if len(name) > MAX_NAME:
            raise JobDefinitionError(f"A calendar's name has at most {MAX_NAME} characters, not {len(name)}: {name!r}.")

    def _zone(self) -> tzinfo:
        try:
            return zone(self.timezone)
        except ScheduleError as error:
            raise self._error("timezone", self.timezone, error.reason) from None

    def _read(self, part: str, read: Callable[[object], T]) -> list[T]:
        given = getattr(self, part)
        try:
            items = text.items_of(given)
        except ValueError as error:
            raise self._error(part, given, str(error)) from None
        found = []
        for item in items:
            try:
                found.append(read(item))
            except ValueError as error:
                raise self._error(part, item, str(error)) from None
        return found

    def _error(self, part: str, value: object, reason: str) -> JobDefinitionError:
        what = f"{part}={value!r}: {reason}."
        return JobDefinitionError(f"Calendar {self.name!r}: {what}", field=part, reason=what)


def _within(local: time, start: time, end: time) -> bool:
    return start <= local < end if start < end else local >= start or local < end


def _in_a_window(instant: datetime, windows: Iterable[tuple[datetime, datetime]]) -> bool:
    return any(start <= instant < end for start, end in windows)
