from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from django_leasejobs.schedules import ScheduleError, parse

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "timezone", "expected"),
    [
        ("@at 2026-12-01T02:00:00+01:00", "UTC", "2026-12-01T01:00:00Z"),
        ("@at 2026-12-01T02:00:00Z", "Asia/Tokyo", "2026-12-01T02:00:00Z"),
        ("@at 2026-12-01t02:00:00z", "Asia/Tokyo", "2026-12-01T02:00:00Z"),
        ("@at 2026-12-01T02:00", "Asia/Tokyo", "2026-11-30T17:00:00Z"),
        ("@at 2026-12-01 02:00", "Asia/Tokyo", "2026-11-30T17:00:00Z"),
        ("@at  2026-12-01T02:00:30.25", "UTC", "2026-12-01T02:00:30.250000Z"),
        ("@at 2026-07-01T02:00:00", "Europe/Berlin", "2026-07-01T00:00:00Z"),
        # in the gap: the first minute after it; in the repeated hour: the first of the two
        ("@at 2026-03-29T02:30:00", "Europe/Berlin", "2026-03-29T01:00:00Z"),
        ("@at 2026-10-25T02:30:00", "Europe/Berlin", "2026-10-25T00:30:00Z"),
        ("@at 2026-10-25T02:30:00+01:00", "Europe/Berlin", "2026-10-25T01:30:00Z"),
    ],
)
def test_it_fires_once(text, timezone, expected):
    schedule, instant = parse(text, timezone), datetime.fromisoformat(expected)

    assert schedule.next_after(LONG_AGO) == instant
    assert schedule.next_after(instant - timedelta(microseconds=1)) == instant
    assert schedule.next_after(instant) is None
    assert schedule.instants(LONG_AGO, instant, 5) == [instant]
    assert schedule.count(LONG_AGO, instant, 5) == (1, instant)


def test_a_day_that_a_zone_left_out_is_refused():
    with pytest.raises(ScheduleError, match=r"does not exist in Pacific/Apia: its clock skips it"):
        parse("@at 2011-12-30T12:00", "Pacific/Apia")


def test_a_clock_change_is_told_for_local_times_only():
    local = parse("@at 2026-03-29T02:30:00", "Europe/Berlin")
    repeated = parse("@at 2026-10-25T02:30:00", "Europe/Berlin")
    given_with_offset = parse("@at 2026-10-25T02:30:00+02:00", "Europe/Berlin")

    def told(schedule):
        return schedule.touched_by_clock_change(schedule.next_after(LONG_AGO))

    assert told(local) == "02:30 does not exist on this day: runs at 03:00"
    assert told(repeated) == "02:30 happens twice on this day: runs the first time only"
    assert told(given_with_offset) is None
    assert local.touched_by_clock_change(LONG_AGO) is None


def test_it_is_described_in_its_zone():
    assert parse("@at 2026-12-01T02:00:00+01:00", "Europe/Berlin").describe() == (
        "once, on 2026-12-01 at 02:00, Europe/Berlin"
    )
    assert parse("@at 2026-12-01T02:00:05Z").describe() == "once, on 2026-12-01 at 02:00:05, UTC"
