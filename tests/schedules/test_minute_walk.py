"""Schedules against a walk through every minute, written from the rules alone, in every zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from django_leasejobs.schedules import ScheduleError, parse

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
ZONES = sorted(available_timezones() - {"localtime", "Factory"})
# From here on every offset is a whole number of minutes, so that a walk by UTC minutes meets each wall minute.
FIRST, LAST = datetime(1973, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Wanted:
    """An expression together with what it means, put together from the meaning and never parsed."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    @property
    def fixed(self):
        minute, hour, *_ = self.text.split()
        return minute[0] != "*" and hour[0] != "*"

    def matches(self, wall):
        if wall.minute not in self.minutes or wall.hour not in self.hours or wall.month not in self.months:
            return False
        by_day, by_weekday = wall.day in self.days, wall.isoweekday() % 7 in self.weekdays
        _, _, day, _, weekday = self.text.split()
        if day[0] == "*" or weekday[0] == "*":
            return by_day and by_weekday
        return by_day or by_weekday


@st.composite
def one_field(draw, low, high, top, likely):
    """One field and the numbers it stands for; ``top`` is where a step without an end stops."""
    form = draw(st.sampled_from(["star", "number", "number", "list", "range", "steps", "star steps", "open steps"]))
    number = st.one_of(st.sampled_from(likely), st.integers(low, high))
    first, last = sorted((draw(number), draw(number)))
    step = draw(st.integers(1, min(high - low + 1, 30)))
    match form:
        case "star":
            return "*", range(low, high + 1)
        case "number":
            return str(first), [first]
        case "list":
            numbers = draw(st.lists(number, min_size=2, max_size=4))
            return ",".join(map(str, numbers)), numbers
        case "range":
            return f"{first}-{last}", range(first, last + 1)
        case "steps":
            return f"{first}-{last}/{step}", range(first, last + 1, step)
        case "star steps":
            return f"*/{step}", range(low, top + 1, step)
        case "open steps":
            return f"{first}/{step}", range(first, top + 1, step)


ANY_DAY, ANY_MONTH, ANY_WEEKDAY = ("*", range(1, 32)), ("*", range(1, 13)), ("*", range(7))


@st.composite
def wanted(draw):
    fields = [
        draw(one_field(0, 59, 59, [0, 15, 30, 45, 59])),
        draw(one_field(0, 23, 23, [0, 1, 2, 3, 23])),
        draw(st.one_of(st.just(ANY_DAY), one_field(1, 31, 31, [1, 15, 26, 31]))),
        draw(st.one_of(st.just(ANY_MONTH), one_field(1, 12, 12, [3, 4, 10, 11]))),
        draw(st.one_of(st.just(ANY_WEEKDAY), one_field(0, 6, 7, [0, 5, 6]))),
    ]
    numbers = [frozenset(numbers) for _, numbers in fields]
    numbers[4] = frozenset(number % 7 for number in numbers[4])
    return Wanted(" ".join(text for text, _ in fields), *numbers)


@cache
def clock_changes(zone):
    """All instants between FIRST and LAST at which a zone's offset changes."""
    tz, found, instant = ZoneInfo(zone), [], FIRST
    while instant < LAST:
        later = instant + timedelta(days=3)
        if instant.astimezone(tz).utcoffset() != later.astimezone(tz).utcoffset():
            low, high = instant, later
            while high - low > MINUTE:
                middle = low + (high - low) // MINUTE // 2 * MINUTE
                unchanged = middle.astimezone(tz).utcoffset() == instant.astimezone(tz).utcoffset()
                low, high = (middle, high) if unchanged else (low, middle)
            found.append(high)
        instant = later
    return found


@st.composite
def moments(draw):
    """A zone and an instant, as a rule one at which its clock changes."""
    zone = draw(st.sampled_from(ZONES))
    changes = clock_changes(zone)
    anywhere = st.integers(0, (LAST - FIRST) // MINUTE).map(lambda minutes: FIRST + minutes * MINUTE)
    return zone, draw(st.sampled_from(changes) if changes else anywhere)


def walk(wanted, zone, after, until):
    """Look at the clock on the wall once a minute, from a day earlier on to know what it has shown."""
    tz, found, shown = ZoneInfo(zone), [], set()
    instant = after - 25 * HOUR
    before = (instant - MINUTE).astimezone(tz).replace(tzinfo=None)
    while instant <= until:
        wall = instant.astimezone(tz).replace(tzinfo=None)
        jump = wall - before - MINUTE
        due = wanted.matches(wall) and not (wanted.fixed and wall in shown)
        if wanted.fixed and timedelta(0) < jump <= 3 * HOUR:
            due = due or any(wanted.matches(before + n * MINUTE) for n in range(1, jump // MINUTE + 1))
        if due and instant > after:
            found.append(instant)
        shown.add(wall)
        before = wall
        instant += MINUTE
    return found


def parsed(wanted, zone):
    try:
        return parse(wanted.text, zone)
    except ScheduleError as error:
        assume("never fires" not in error.reason)
        raise


@pytest.mark.timeout(600)
@settings(deadline=None, max_examples=2000)
@given(wanted(), moments(), st.integers(-180, 60))
def test_every_instant_around_a_clock_change_is_the_one_that_a_walk_finds(wanted, moment, minutes):
    zone, change = moment
    after = change + minutes * MINUTE
    until = after + 6 * HOUR
    schedule = parsed(wanted, zone)
    walked = walk(wanted, zone, after, until)

    one_by_one, instant = [], schedule.next_after(after)
    while instant is not None and instant <= until:
        one_by_one.append(instant)
        instant = schedule.next_after(instant)

    assert one_by_one == walked
    assert schedule.instants(after, until, 1000) == walked
    assert schedule.count(after, until, 1000) == (len(walked), walked[-1] if walked else None)


@settings(deadline=None, max_examples=1000)
@given(wanted(), moments(), st.integers(-40 * 60, 40 * 60), st.floats(0, 1))
def test_the_next_instant_is_later_and_the_same_for_every_start_up_to_it(wanted, moment, minutes, part):
    zone, change = moment
    start = change + minutes * MINUTE + timedelta(seconds=17, microseconds=5)
    schedule = parsed(wanted, zone)
    found = schedule.next_after(start)

    assert found is not None
    assert found > start
    assert found.tzinfo is UTC
    assert schedule.next_after(start + (found - start) * part - timedelta(microseconds=1)) == found
    assert schedule.next_after(found - timedelta(microseconds=1)) == found
    assert schedule.next_after(found) != found
