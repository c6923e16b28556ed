"""Five-field cron: from fields to wall times, and from those to instants. croniter stays behind this file.

croniter reads the fields, as plain lists of numbers, and is the yardstick that tests hold the stepping to; it
never sees a time zone. The stepping itself is a walk over tables, some twenty times as fast.
"""
# ruff: noqa: DTZ001 - wall times are naive on purpose

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from calendar import isleap
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from croniter import CroniterError, croniter

from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.schedules.base import Schedule, in_utc
from django_leasejobs.schedules.cron_fields import KINDS, LAST, CronFields, Field, Kind, read_field
from django_leasejobs.schedules.local_time import LocalClock, clock_change_words
from django_leasejobs.schedules.words import describe_cron

# The longest wait for a date is 40 years: 29 February on a given weekday, across 2100.
_LONGEST_WAIT_YEARS = 41
_LAST_YEAR = 9999
_LENGTHS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def read_fields(texts: list[str], name: str) -> CronFields:
    """Check five fields and read them; raise ScheduleError that names the field at fault."""
    fields = [read_field(kind, text, name) for kind, text in zip(KINDS, texts, strict=True)]
    minutes, hours, _, months, _ = _numbers_by_croniter(fields)
    minute, hour, day, _, weekday = fields
    return CronFields(
        minutes=minutes,
        hours=hours,
        months=months,
        day=day,
        weekday=weekday,
        fixed=not (minute.starred or hour.starred),
        both_days=day.starred or weekday.starred,
    )


def _numbers_by_croniter(fields: list[Field]) -> list[tuple[int, ...]]:
    plain = " ".join(",".join(map(str, sorted(field.numbers))) or "*" for field in fields)
    try:
        expanded = croniter.expand(plain)[0]
    except CroniterError as error:
        raise ScheduleError(str(error)) from error
    return [_all_of(kind) if values == ["*"] else tuple(values) for kind, values in zip(KINDS, expanded, strict=True)]


def _all_of(kind: Kind) -> tuple[int, ...]:
    return tuple(range(kind.low, kind.low + kind.width))


class CronTimes:
    """The wall times of an expression, in order, on a calendar without clock changes."""

    __slots__ = ("_days_by_shape", "_fields", "_times")

    def __init__(self, fields: CronFields) -> None:
        self._fields = fields
        self._times = _times_of_day(fields.hours, fields.minutes)
        self._days_by_shape: dict[tuple[int, int], tuple[int, ...]] = {}

    def after(self, wall: datetime) -> datetime | None:
        """Return the first of these times strictly later than ``wall``; None when there is none any more."""
        year, month, day = wall.year, wall.month, wall.day
        days = self._days(year, month) if month in self._fields.months else ()
        index = bisect_left(days, day)
        if index < len(days) and days[index] == day:
            times = self._times
            time = bisect_right(times, wall.hour * 60 + wall.minute)
            if time < len(times):
                return datetime(year, month, day, *divmod(times[time], 60))
            index += 1
        if index < len(days):
            return datetime(year, month, days[index], *divmod(self._times[0], 60))
        return self._in_later_month(year, month)

    def between(self, after: datetime, before: datetime) -> Iterator[datetime]:
        """Yield these times strictly between the two, in order."""
        wall = self.after(after)
        while wall is not None and wall < before:
            yield wall
            midnight = datetime(wall.year, wall.month, wall.day)
            for minute in self._times[bisect_right(self._times, wall.hour * 60 + wall.minute) :]:
                wall = midnight + timedelta(minutes=minute)
                if wall >= before:
                    return
                yield wall
            wall = self.after(wall)

    def _in_later_month(self, year: int, month: int) -> datetime | None:
        for later_year in range(year, min(year + _LONGEST_WAIT_YEARS, _LAST_YEAR) + 1):
            for later_month in self._fields.months:
                if (later_year, later_month) > (year, month):
                    days = self._days(later_year, later_month)
                    if days:
                        return datetime(later_year, later_month, days[0], *divmod(self._times[0], 60))
        return None

    def _days(self, year: int, month: int) -> tuple[int, ...]:
        # A month's days depend on its first weekday and its length alone: 28 shapes.
        shape = date(year, month, 1).isoweekday() % 7, _length(year, month)
        days = self._days_by_shape.get(shape)
        if days is None:
            days = self._days_by_shape[shape] = _matching_days(self._fields, *shape)
        return days


def _length(year: int, month: int) -> int:
    return 29 if month == 2 and isleap(year) else _LENGTHS[month]


@lru_cache(maxsize=512)
def _times_of_day(hours: tuple[int, ...], minutes: tuple[int, ...]) -> tuple[int, ...]:
    """List the minutes of the day, shared by all expressions that have the same."""
    return tuple(hour * 60 + minute for hour in hours for minute in minutes)


def _matching_days(fields: CronFields, first_weekday: int, length: int) -> tuple[int, ...]:
    """List the days that the two day fields allow in a month of this shape; Sunday is weekday 0."""
    weekdays = [(first_weekday + day) % 7 for day in range(length)]
    by_date = {day for day in fields.day.numbers if day <= length}
    by_date.update(_nearest_weekday(day, weekdays) for day in fields.day.nearest if day <= length)
    if fields.day.last_day:
        by_date.add(length)
    by_weekday = {
        day
        for day, weekday in enumerate(weekdays, 1)
        if weekday in fields.weekday.numbers
        or (weekday, (day + 6) // 7) in fields.weekday.nth
        or (day > length - 7 and (weekday, LAST) in fields.weekday.nth)
    }
    return tuple(sorted(by_date & by_weekday if fields.both_days else by_date | by_weekday))


def _nearest_weekday(day: int, weekdays: list[int]) -> int:
    """Return the Monday to Friday nearest to a day, without leaving its month."""
    weekday, length = weekdays[day - 1], len(weekdays)
    if weekday == 6:
        return day - 1 if day > 1 else day + 2
    if weekday == 0:
        return day + 1 if day < length else day - 2
    return day


class CronSchedule(Schedule):
    """A cron expression in a time zone."""

    __slots__ = ("_clock", "_fields", "_times", "text", "timezone")

    def __init__(self, text: str, timezone: str, fields: CronFields, clock: LocalClock) -> None:
        self.text = text
        self.timezone = timezone
        self._fields = fields
        self._times = CronTimes(fields)
        self._clock = clock
        self._refuse_if_it_never_fires()

    @property
    def follows_a_zone(self) -> bool:
        return self.timezone != "UTC"

    @property
    def hashed(self) -> bool:
        return re.search(r"(^|[\s,])h", self.text, re.ASCII | re.IGNORECASE) is not None

    def next_after(self, instant: datetime) -> datetime | None:
        utc = in_utc(instant).replace(tzinfo=None)
        found = self._clock.next_instant(self._times, utc, fixed=self._fields.fixed)
        return None if found is None else found.replace(tzinfo=UTC)

    def walk(self, after: datetime) -> Iterator[datetime]:
        utc: datetime | None = in_utc(after).replace(tzinfo=None)
        while utc is not None:
            utc = self._clock.next_instant(self._times, utc, fixed=self._fields.fixed)
            if utc is not None:
                yield utc.replace(tzinfo=UTC)
                # What follows in the same stretch of even time needs no more questions.
                stretch = self._clock.stretch_at(utc)
                for wall in self._times.between(utc + stretch.offset, stretch.wall_end):
                    utc = wall - stretch.offset
                    yield utc.replace(tzinfo=UTC)

    def describe(self) -> str:
        return f"{describe_cron(self._fields)}, {self.timezone}"

    def touched_by_clock_change(self, instant: datetime) -> str | None:
        utc = in_utc(instant).replace(tzinfo=None)
        return clock_change_words(self._clock, self._times, utc, fixed=self._fields.fixed)

    def _refuse_if_it_never_fires(self) -> None:
        if self._times.after(datetime(2000, 1, 1)) is None:
            raise ScheduleError(f"{self.text!r} never fires: there is no such date")
        # By then each zone has come to the rules that it keeps for good.
        if self._clock.next_instant(self._times, datetime(2100, 1, 1), fixed=self._fields.fixed) is None:
            raise ScheduleError(f"{self.text!r} never fires in {self.timezone}: the clock skips each of its times")
