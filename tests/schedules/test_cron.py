from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from croniter import croniter
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from django_leasejobs.schedules import ScheduleError, parse

START = datetime(2024, 1, 1, tzinfo=UTC)


def dates(text, number, start=START, name=""):
    schedule, instant, found = parse(text, name=name), start, []
    for _ in range(number):
        instant = schedule.next_after(instant)
        found.append(instant.strftime("%Y-%m-%d %H:%M"))
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 0 L * *", ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]),
        ("0 0 L 2 *", ["2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28"]),
        ("0 0 1,L * *", ["2024-01-31", "2024-02-01", "2024-02-29", "2024-03-01"]),
        ("0 0 * * 5L", ["2024-01-26", "2024-02-23", "2024-03-29", "2024-04-26"]),
        ("0 0 * * friL", ["2024-01-26", "2024-02-23", "2024-03-29", "2024-04-26"]),
        ("0 0 * * 5#2", ["2024-01-12", "2024-02-09", "2024-03-08", "2024-04-12"]),
        ("0 0 * * fri#2", ["2024-01-12", "2024-02-09", "2024-03-08", "2024-04-12"]),
        ("0 0 * * 7#1,0L", ["2024-01-07", "2024-01-28", "2024-02-04", "2024-02-25"]),
        ("0 0 * * 5#5", ["2024-03-29", "2024-05-31", "2024-08-30", "2024-11-29"]),
        ("0 0 * * 1,5#2", ["2024-01-08", "2024-01-12", "2024-01-15", "2024-01-22"]),
        ("0 0 15W * *", ["2024-01-15", "2024-02-15", "2024-03-15", "2024-04-15"]),
        ("0 0 15W 6,9,12 *", ["2024-06-14", "2024-09-16", "2024-12-16", "2025-06-16"]),
        ("0 0 1W 6,9 *", ["2024-06-03", "2024-09-02", "2025-06-02", "2025-09-01"]),
        ("0 0 31W 3,8 *", ["2024-03-29", "2024-08-30", "2025-03-31", "2025-08-29"]),
        ("0 0 30W 2,3 *", ["2024-03-29", "2025-03-31", "2026-03-30", "2027-03-30"]),
        ("0 0 1W,15W 6 *", ["2024-06-03", "2024-06-14", "2025-06-02", "2025-06-16"]),
        ("0 0 1 * 5#2", ["2024-01-12", "2024-02-01", "2024-02-09", "2024-03-01"]),
        ("0 0 */10 * 5L", ["2024-05-31", "2025-01-31", "2025-10-31", "2026-07-31"]),
        ("0 0 29 2 *", ["2024-02-29", "2028-02-29", "2032-02-29", "2036-02-29"]),
        ("0 0 * * 1/3", ["2024-01-04", "2024-01-07", "2024-01-08", "2024-01-11"]),
        ("0 0 * * sun-tue/2", ["2024-01-02", "2024-01-07", "2024-01-09", "2024-01-14"]),
        ("0 0 9-9 * *", ["2024-01-09", "2024-02-09", "2024-03-09", "2024-04-09"]),
        ("0 0 1 jan-mar *", ["2024-02-01", "2024-03-01", "2025-01-01", "2025-02-01"]),
    ],
)
def test_days_fall_on_the_dates_that_the_field_says(text, expected):
    assert dates(text, 4) == [f"{date} 00:00" for date in expected]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("0 9-9 * * *", ["09:00", "09:00"]),
        ("59/15 * * * *", ["00:59", "01:59"]),
        ("50/20 5 * * *", ["05:50", "05:50"]),
        ("*/60 */24 * * *", ["00:00", "00:00"]),
        ("1-1/5 3 * * *", ["03:01", "03:01"]),
        ("5,*/30 1 * * *", ["01:00", "01:05"]),
        ("00 05 * * *", ["05:00", "05:00"]),
        ("0,0 0 * * *", ["00:00", "00:00"]),
        ("\t0  7\t* * *  ", ["07:00", "07:00"]),
        ("@Daily", ["00:00", "00:00"]),
    ],
)
def test_times_are_what_the_fields_say(text, times):
    assert [found[-5:] for found in dates(text, 2)] == times


def test_a_rare_date_is_found_across_2100():
    found = parse("0 0 29 2 */7").next_after(datetime(2088, 3, 1, tzinfo=UTC))

    assert found == datetime(2128, 2, 29, tzinfo=UTC)


def test_rare_dates_are_found_fast():
    schedule, instant = parse("0 0 29 2 */7", "Europe/Berlin"), START
    began = time.perf_counter()

    for _ in range(10):
        instant = schedule.next_after(instant)

    assert instant.year > 2280
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    ("text", "timezone", "words"),
    [
        ("0 0 31 2 *", "UTC", "there is no such date"),
        ("0 0 30,31 2 *", "Europe/Berlin", "there is no such date"),
        ("0 0 31 4,6,9,11 *", "UTC", "there is no such date"),
        ("0 0 31W 2 *", "UTC", "there is no such date"),
        ("0 0 1-7 * */7#2", "UTC", None),
        ("0 0 */30 2 5#5", "UTC", "there is no such date"),
        ("*/20 2 8-14 3 */7", "America/New_York", "the clock skips each of its times"),
        ("*/20 2 8-14 3 */7", "UTC", None),
        ("0 2 8-14 3 */7", "America/New_York", None),
    ],
)
def test_what_never_fires_is_refused_within_milliseconds(text, timezone, words):
    began = time.perf_counter()

    try:
        parse(text, timezone)
    except ScheduleError as error:
        assert words is None or ("never fires" in error.reason and words in error.reason)
    else:
        assert words is None
    assert time.perf_counter() - began < 1


def test_h_is_stable_and_spreads_jobs_by_their_name():
    names = [f"job {number}" for number in range(200)]
    firsts = [dates("H H * * *", 1, name=name)[0] for name in names]

    assert firsts == [dates("H H * * *", 1, name=name)[0] for name in names]
    assert len(set(firsts)) > 150
    assert dates("H H * * *", 1, name="nightly") == ["2024-01-01 04:43"]


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("H(0-5) 3 * * *", lambda at: at.minute <= 5 and at.hour == 3),
        ("H/15 * * * *", lambda at: True),
        ("H(10-29)/10 * * * *", lambda at: 10 <= at.minute <= 29),
        ("0 0 H * *", lambda at: at.day <= 28),
        ("0 0 1 H *", lambda at: at.day == 1),
        ("0 0 * * H", lambda at: True),
        ("0 H(22-23) * * *", lambda at: at.hour >= 22),
    ],
)
def test_h_stays_within_its_range(text, allowed):
    for number in range(50):
        schedule = parse(text, name=f"job {number}")
        found = schedule.instants(START, START + timedelta(days=400), 100)

        assert found
        assert all(allowed(at) for at in found)


def test_h_with_a_step_keeps_its_distance():
    for number in range(50):
        first, *_, last = parse("H/15 * * * *", name=f"job {number}").instants(START, START + timedelta(1), 4)

        assert (last - first) == timedelta(minutes=45)


def test_a_week_of_minutes_is_counted_in_a_blink():
    schedule = parse("* * * * *")
    began = time.perf_counter()

    counted = schedule.count(START, START + timedelta(days=7), 20_000)

    assert counted == (10_080, START + timedelta(days=7))
    assert time.perf_counter() - began < 0.5


def test_counting_stops_at_the_limit():
    schedule = parse("*/10 * * * *")

    assert schedule.count(START, START + timedelta(days=7), 3) == (3, START + timedelta(minutes=30))
    assert schedule.count(START, START + timedelta(days=7), 0) == (0, None)
    assert schedule.count(START, START, 5) == (0, None)
    assert schedule.instants(START, START + timedelta(minutes=20), 5) == [
        START + timedelta(minutes=10),
        START + timedelta(minutes=20),
    ]
    assert schedule.instants(START, START + timedelta(days=1), 0) == []


@pytest.mark.parametrize("year", [1, 2, 3, 9996, 9998, 9999])
def test_the_ends_of_the_calendar_do_no_harm(year):
    for timezone in ("UTC", "Pacific/Auckland", "America/New_York"):
        for at in (datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, 23, 59, tzinfo=UTC)):
            found = parse("0 12 * * *", timezone).next_after(at)

            assert found is None or found > at


def test_a_naive_instant_is_refused():
    with pytest.raises(ValueError, match="aware datetime"):
        parse("0 12 * * *").next_after(START.replace(tzinfo=None))


EARLY, LATE = datetime(1980, 1, 1), datetime(2080, 1, 1)
FIELDS = st.tuples(
    *(
        st.one_of(
            st.just("*"),
            st.integers(low, high).map(str),
            st.lists(st.integers(low, high), min_size=1, max_size=4).map(lambda numbers: ",".join(map(str, numbers))),
            st.tuples(st.integers(low, high - 1), st.integers(2, 6)).map(lambda pair: f"{pair[0]}/{pair[1]}")
            if high > 7
            else st.nothing(),
            st.integers(1, high - low).map("*/{}".format),
            st.tuples(st.integers(low, high), st.integers(low, high))
            .filter(lambda pair: pair[0] < pair[1])
            .map(lambda pair: f"{pair[0]}-{pair[1]}"),
        )
        for low, high in ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
    )
).map(" ".join)


@settings(deadline=None, max_examples=400)
@given(FIELDS, st.datetimes(EARLY, LATE))
def test_where_croniter_is_right_both_step_alike(text, start):
    try:
        schedule = parse(text)
    except ScheduleError as error:
        assume("never fires" not in error.reason)
        raise
    stepper = croniter(text, start, ret_type=datetime, implement_cron_bug=True)
    instant = start.replace(tzinfo=UTC)

    for _ in range(5):
        instant = schedule.next_after(instant)

        assert instant.replace(tzinfo=None) == stepper.get_next()
