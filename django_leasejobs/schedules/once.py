"""``@at``: one instant, given with its offset or as a wall time of the schedule's zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.schedules.base import Schedule, in_utc
from django_leasejobs.schedules.local_time import LARGEST_JUMP, LocalClock, clock_change_words

_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(?P<offset>Z|[+-]\d\d:\d\d)?", re.ASCII | re.IGNORECASE
)
_EXAMPLE = "write for example '@at 2026-12-01T02:00:00+01:00', or without the offset for local time"


class OneTime:
    """A single wall time, for the clock to find its instant."""

    __slots__ = ("wall",)

    def __init__(self, wall: datetime) -> None:
        self.wall = wall

    def after(self, wall: datetime) -> datetime | None:
        return self.wall if self.wall > wall else None

    def between(self, after: datetime, before: datetime) -> Iterator[datetime]:
        if after < self.wall < before:
            yield self.wall


class OnceSchedule(Schedule):
    """One instant. ``wall`` is set when it was given in local time."""

    __slots__ = ("_clock", "_wall", "instant", "text", "timezone")

    def __init__(self, text: str, timezone: str, instant: datetime, clock: LocalClock, wall: OneTime | None) -> None:
        self.text = text
        self.timezone = timezone
        self.instant = instant
        self._clock = clock
        self._wall = wall

    def next_after(self, instant: datetime) -> datetime | None:
        return self.instant if in_utc(instant) < self.instant else None

    def describe(self) -> str:
        local = self.instant.astimezone(self._clock.zone)
        seconds = ":%S" if local.second or local.microsecond else ""
        return f"once, on {local.strftime(f'%Y-%m-%d at %H:%M{seconds}')}, {self.timezone}"

    def touched_by_clock_change(self, instant: datetime) -> str | None:
        if self._wall is None or instant != self.instant:
            return None
        return clock_change_words(self._clock, self._wall, self.instant.replace(tzinfo=None), fixed=True)


def read_at(text: str, timezone: str, clock: LocalClock) -> OnceSchedule:
    """Read what stands after ``@at``; raise ScheduleError for no time, or one that does not exist."""
    argument = text.partition(" ")[2].strip()
    match = _TIME.fullmatch(argument)
    if match is None:
        raise ScheduleError(f"{argument!r} is not a date and time; {_EXAMPLE}", field="time")
    try:
        time = datetime.fromisoformat(argument.upper())
        if match["offset"]:
            return OnceSchedule(text, timezone, time.astimezone(UTC), clock, None)
        wall = OneTime(time)
        found = clock.next_instant(wall, time - LARGEST_JUMP, fixed=True)
    except (ValueError, OverflowError) as error:
        raise ScheduleError(f"{argument!r} is not a date and time: {error}", field="time") from error
    if found is None:
        raise ScheduleError(f"{argument!r} does not exist in {timezone}: its clock skips it", field="time")
    return OnceSchedule(text, timezone, found.replace(tzinfo=UTC), clock, wall)
