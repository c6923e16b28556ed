"""Wall clock time to UTC and back: gaps, repeated hours, jumps. The only file that knows clock changes.

Between two changes of its offset a zone's clock runs evenly; such a *stretch* is all that the rest needs.
Instants are naive UTC datetimes here and wall times naive local ones, so that plain arithmetic can't go
through a zone by accident.
"""
# ruff: noqa: DTZ001, DTZ901 - naive on purpose

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo

from django_leasejobs.durations import A_MOMENT

# Above this, cron takes a jump for a clock that was set right, and makes no run up.
LARGEST_MADE_UP = timedelta(hours=3)
# No zone ever moved its clock by more than a day (Manila 1844, Apia 2011).
LARGEST_JUMP = timedelta(days=2)
# Every pattern of dates and clock changes has shown itself within 40 years.
HORIZON_YEARS = 50

_MINUTE = timedelta(minutes=1)
_LOOK_EVERY = timedelta(days=2)
_FIRST_YEAR = 3
_LAST_YEAR = 9997


class WallTimes(Protocol):
    """The wall times at which something is wanted, clock changes left aside."""

    def after(self, wall: datetime) -> datetime | None:
        """Return the first wanted wall time strictly later than this one."""

    def between(self, after: datetime, before: datetime) -> Iterator[datetime]:
        """Yield the wanted wall times strictly between the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Time from one change of a zone's offset to the next, in UTC; ``end`` is not part of it.

    ``shown`` is the latest wall time that the clock had reached before: a stretch that begins earlier repeats
    the time up to it, one that begins later skips the time from it. Where the stretch begins at no change at
    all, ``shown`` is where it begins. From ``settled`` on the change has no consequence left.
    """

    start: datetime
    end: datetime
    offset: timedelta
    wall_start: datetime
    wall_end: datetime
    shown: datetime
    makes_up: bool
    first_minute: datetime
    settled: datetime


class LocalClock:
    """The clock on the wall of one zone."""

    __slots__ = ("_latest", "zone")

    def __init__(self, zone: ZoneInfo) -> None:
        self.zone = zone
        self._latest = _stretches(zone, 2000)[0]

    def stretch_at(self, utc: datetime) -> Stretch:
        """Return the stretch that this instant lies in; OverflowError at the ends of the calendar."""
        latest = self._latest
        if latest.start <= utc < latest.end:
            return latest
        self._latest = found = next(s for s in _stretches(self.zone, utc.year) if utc < s.end)
        return found

    def next_instant(self, times: WallTimes, utc: datetime, *, fixed: bool) -> datetime | None:
        """Return the first instant strictly later than ``utc`` at which these wall times fall due.

        A wall time is due whenever the clock shows it; a fixed one only the first time, and when the clock
        skips it (by at most three hours) at the first minute after the gap.
        """
        utc = max(utc, datetime(_FIRST_YEAR, 1, 1))
        try:
            return self._search(times, utc, fixed)
        except OverflowError:
            return None

    def _search(self, times: WallTimes, utc: datetime, fixed: bool) -> datetime | None:
        stretch = self.stretch_at(utc)
        wall = utc + stretch.offset
        last_year = utc.year + HORIZON_YEARS
        while True:
            if fixed and wall < stretch.settled:
                if skipped(times, stretch):
                    return stretch.first_minute - stretch.offset
                wall = max(wall, stretch.shown - A_MOMENT)
            found = times.after(wall)
            if found is None:
                return None
            if found < stretch.wall_end:
                return found - stretch.offset
            reached = stretch.end
            if stretch.wall_end - wall > LARGEST_JUMP:
                # Nothing is wanted from here to ``found``, and no repeated hour reaches back this far.
                reached = max(reached, found - stretch.offset - LARGEST_JUMP)
            stretch = self.stretch_at(reached)
            if stretch.start.year > last_year:
                return None
            wall = max(stretch.start, reached) + stretch.offset - A_MOMENT


def skipped(times: WallTimes, stretch: Stretch) -> list[datetime]:
    """List the wanted wall times in the gap before this stretch, if it is one that runs are made up for."""
    if not stretch.makes_up:
        return []
    return list(times.between(stretch.shown - A_MOMENT, stretch.wall_start))


@lru_cache(maxsize=1024)
def local_clock(zone: ZoneInfo) -> LocalClock:
    """Return the clock of this zone, shared by all schedules in it."""
    return LocalClock(zone)


@lru_cache(maxsize=16_384)
def _stretches(zone: ZoneInfo, year: int) -> tuple[Stretch, ...]:
    """List the stretches of a year, with a year on either side so that none of its own is cut off."""
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        raise OverflowError(f"year {year} is at the end of the calendar")
    start = datetime(year - 1, 1, 1)
    offset = _offset(zone, start)
    shown = start + offset
    makes_up = False
    stretches = []
    for change in (*_changes(zone, year - 1), *_changes(zone, year), *_changes(zone, year + 1)):
        stretches.append(_stretch(start, change, offset, shown, makes_up=makes_up))
        shown = max(shown, change + offset)
        start, before, offset = change, offset, _offset(zone, change)
        makes_up = shown < start + offset and offset - before <= LARGEST_MADE_UP
    stretches.append(_stretch(start, datetime(year + 2, 1, 1), offset, shown, makes_up=makes_up))
    return tuple(stretches)


def _stretch(start: datetime, end: datetime, offset: timedelta, shown: datetime, *, makes_up: bool) -> Stretch:
    wall_start = start + offset
    first_minute = wall_start + (datetime.min - wall_start) % _MINUTE
    return Stretch(
        start=start,
        end=end,
        offset=offset,
        wall_start=wall_start,
        wall_end=end + offset,
        shown=shown,
        makes_up=makes_up,
        first_minute=first_minute,
        settled=first_minute if makes_up else shown,
    )


@lru_cache(maxsize=16_384)
def _changes(zone: ZoneInfo, year: int) -> tuple[datetime, ...]:
    """List the instants of a year, its end included, at which the zone's offset changes.

    zoneinfo does not tell them, so every other day is looked at. In the whole zone database no two changes
    are closer than four days.
    """
    changes = []
    day, last = datetime(year, 1, 1), datetime(year + 1, 1, 1)
    offset = _offset(zone, day)
    while day < last:
        before, day = day, min(day + _LOOK_EVERY, last)
        if _offset(zone, day) != offset:
            changes.append(_change_between(zone, before, day))
            offset = _offset(zone, day)
    return tuple(changes)


def _change_between(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """Find the second of the one offset change between two instants."""
    offset = _offset(zone, before)
    low, high = 0, int((after - before).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(zone, before + timedelta(seconds=middle)) == offset:
            low = middle
        else:
            high = middle
    return before + timedelta(seconds=high)


def _offset(zone: ZoneInfo, utc: datetime) -> timedelta:
    return utc.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None) - utc


def clock_change_words(clock: LocalClock, times: WallTimes, utc: datetime, *, fixed: bool) -> str | None:
    """Say what a clock change did to this instant of the given wall times, or return None."""
    stretch = clock.stretch_at(utc)
    wall = utc + stretch.offset
    if fixed and wall == stretch.first_minute and (lost := skipped(times, stretch)):
        others = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        verb = "do" if others else "does"
        return f"{lost[0]:%H:%M}{others} {verb} not exist on this day: runs at {wall:%H:%M}"
    later = clock.stretch_at(stretch.end)
    if later.wall_start <= wall < later.shown or stretch.wall_start <= wall < stretch.shown:
        how = "runs the first time only" if fixed else "runs both times"
        return f"{wall:%H:%M} happens twice on this day: {how}"
    return None
