from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from django_leasejobs.schedules import parse

START = datetime(2024, 3, 10, 0, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@every 90s", datetime(2024, 3, 10, 0, 1, 30, tzinfo=UTC)),
        ("@every 90", datetime(2024, 3, 10, 0, 1, 30, tzinfo=UTC)),
        ("@every 15m", datetime(2024, 3, 10, 0, 15, tzinfo=UTC)),
        ("@every  1h30m", datetime(2024, 3, 10, 1, 30, tzinfo=UTC)),
        ("@EVERY 1d", datetime(2024, 3, 11, tzinfo=UTC)),
    ],
)
def test_the_grid_is_counted_from_the_epoch(text, expected):
    assert parse(text, "America/New_York").next_after(START) == expected


def test_an_anchor_moves_the_grid():
    anchor = datetime(2024, 1, 1, 0, 4, tzinfo=UTC)

    assert parse("@every 15m", anchor=anchor).next_after(START) == datetime(2024, 3, 10, 0, 4, tzinfo=UTC)


def test_a_naive_anchor_is_refused():
    with pytest.raises(ValueError, match="aware datetime"):
        parse("@every 15m", anchor=START.replace(tzinfo=None))


def test_counting_is_arithmetic_whatever_the_number():
    schedule = parse("@every 1s")
    until = START + timedelta(days=10_000)

    assert schedule.count(START, until, 10**12) == (864_000_000, until)
    assert schedule.count(START, until, 7) == (7, START + timedelta(seconds=7))
    assert schedule.count(START, START, 7) == (0, None)
    assert schedule.count(START, until, 0) == (0, None)


def test_nothing_is_left_at_the_end_of_the_calendar():
    last = datetime.max.replace(tzinfo=UTC)

    assert parse("@every 1h").next_after(last) is None
    assert parse("@every 1h").count(last, last, 5) == (0, None)


@settings(deadline=None)
@given(
    st.timedeltas(timedelta(seconds=1), timedelta(days=40)),
    st.datetimes(timezones=st.just(UTC), min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1)),
    st.datetimes(timezones=st.just(UTC), min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1)),
)
def test_the_next_instant_is_the_first_of_the_grid_that_is_later(interval, anchor, after):
    schedule = parse(f"@every {interval.total_seconds():.6f}", anchor=anchor)

    found = schedule.next_after(after)

    assert after < found <= after + schedule.interval
    assert (found - anchor) % schedule.interval == timedelta(0)
    assert schedule.next_after(found) == found + schedule.interval
    assert schedule.instants(after, found + schedule.interval, 5) == [found, found + schedule.interval]
