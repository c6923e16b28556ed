from __future__ import annotations

import copy
import json
import pickle
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from django_leasejobs.exceptions import JobDefinitionError
from django_leasejobs.policies.calendars import Calendar

BERLIN = "Europe/Berlin"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


DAY: dict[str, Any] = {"timezone": BERLIN, "days": ["2026-12-24"]}
NIGHT: dict[str, Any] = {"timezone": BERLIN, "daily": ["22:00-06:00"]}
LUNCH: dict[str, Any] = {"daily": [("12:00", "13:30")]}
FREEZE: dict[str, Any] = {"timezone": BERLIN, "windows": ["2026-12-20T18:00/2027-01-02T06:00"]}
LEAP: dict[str, Any] = {"yearly": ["02-29"]}

EXAMPLES = [
    # definition, instant in UTC, covered?
    ({}, "2026-12-24 12:00", False),
    (DAY, "2026-12-23 22:59:59", False),
    (DAY, "2026-12-23 23:00", True),
    (DAY, "2026-12-24 22:59:59.999999", True),
    (DAY, "2026-12-24 23:00", False),
    (DAY, "2027-12-24 12:00", False),
    ({"weekdays": ["sat", "Sunday"]}, "2026-12-25 23:59", False),
    ({"weekdays": ["sat", "Sunday"]}, "2026-12-26 00:00", True),
    ({"weekdays": ["sat", "Sunday"]}, "2026-12-27 23:59", True),
    ({"weekdays": ["sat", "Sunday"]}, "2026-12-28 00:00", False),
    ({"yearly": ["12-25", "01-01"]}, "2031-12-25 12:00", True),
    ({"yearly": ["12-25", "01-01"]}, "2031-12-26 12:00", False),
    (LEAP, "2028-02-29 12:00", True),
    (LEAP, "2027-02-28 12:00", False),
    (LEAP, "2027-03-01 12:00", False),
    (NIGHT, "2026-12-10 20:59", False),
    (NIGHT, "2026-12-10 21:00", True),
    (NIGHT, "2026-12-10 23:30", True),
    (NIGHT, "2026-12-11 04:59", True),
    (NIGHT, "2026-12-11 05:00", False),
    (NIGHT, "2026-07-10 20:00", True),
    (LUNCH, "2026-12-10 11:59:59", False),
    (LUNCH, "2026-12-10 12:00", True),
    (LUNCH, "2026-12-10 13:30", False),
    ({"daily": ["18:00-00:00"]}, "2026-12-10 23:59:59.9", True),
    ({"daily": ["18:00-00:00"]}, "2026-12-11 00:00", False),
    (FREEZE, "2026-12-20 16:59:59", False),
    (FREEZE, "2026-12-20 17:00", True),
    (FREEZE, "2027-01-02 04:59:59", True),
    (FREEZE, "2027-01-02 05:00", False),
    (
        {"windows": ["2026-12-20T18:00Z/2026-12-20T18:00:01Z"], "timezone": BERLIN},
        "2026-12-20 18:00:00.5",
        True,
    ),
    ({"days": [date(2026, 5, 1)], "weekdays": ["sun"]}, "2026-05-03 09:00", True),
]


@pytest.mark.parametrize(("definition", "instant", "covered"), EXAMPLES)
def test_covers(definition: dict[str, Any], instant: str, covered: bool) -> None:
    assert Calendar("holidays", **definition).covers(utc(instant)) is covered


def test_the_hours_of_a_day_follow_the_local_clock_through_its_changes() -> None:
    """Between 02:00 and 03:00 nothing exists in spring, and two hours do in autumn."""
    calendar = Calendar("early", BERLIN, daily=["02:00-03:00"])
    half_hours = [timedelta(minutes=30) * number for number in range(48)]

    covered = {
        day: sum(calendar.covers(utc(f"{day} 00:00") + later) for later in half_hours)
        for day in ("2026-03-28", "2026-03-29", "2026-10-25")
    }

    assert covered == {"2026-03-28": 2, "2026-03-29": 0, "2026-10-25": 4}


def test_an_instant_in_another_zone_is_the_same_instant() -> None:
    instant = utc("2026-12-23 23:00").astimezone(ZoneInfo("Asia/Tokyo"))

    assert Calendar("holidays", **DAY).covers(instant)


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="not the naive"):
        Calendar("holidays").covers(datetime(2026, 12, 24))


def test_python_values_and_texts_mean_the_same() -> None:
    texts = Calendar(
        "holidays",
        BERLIN,
        days=["2026-12-24"],
        windows=["2026-12-20T18:00/2027-01-02T06:00:00+01:00"],
        daily=["22:00-06:00"],
    )
    values = Calendar(
        "holidays",
        BERLIN,
        days={date(2026, 12, 24)},
        windows=[(utc("2026-12-20 17:00"), datetime(2027, 1, 2, 6, tzinfo=ZoneInfo(BERLIN)))],
        daily=[(time(22), time(6))],
    )

    assert texts == values
    assert hash(texts) == hash(values)


def test_the_order_of_the_days_does_not_matter() -> None:
    one = Calendar("holidays", days=["2026-12-26", "2026-12-25", "2026-12-25"], weekdays=["sun", "SAT"])
    other = Calendar("holidays", days=["2026-12-25", "2026-12-26"], weekdays=["saturday", "sun"])

    assert one == other
    assert one != Calendar("holidays", days=["2026-12-25"])


def test_to_dict_gives_canonical_texts_and_leaves_out_what_is_empty() -> None:
    calendar = Calendar(
        "holidays",
        BERLIN,
        days=["2026-12-26", date(2026, 12, 24)],
        weekdays=["Sunday"],
        yearly=["12-25", "01-01"],
        windows=[("2026-12-20T18:00", "2027-01-02T06:00")],
        daily=["22:00:30-06:00"],
    )

    assert calendar.to_dict() == {
        "name": "holidays",
        "timezone": "Europe/Berlin",
        "days": ["2026-12-24", "2026-12-26"],
        "weekdays": ["sun"],
        "yearly": ["01-01", "12-25"],
        "windows": ["2026-12-20T18:00:00+01:00/2027-01-02T06:00:00+01:00"],
        "daily": ["22:00:30-06:00"],
    }
    assert Calendar("empty").to_dict() == {"name": "empty", "timezone": "UTC"}


def test_a_calendar_survives_copies_and_pickles() -> None:
    calendar = Calendar("holidays", **FREEZE)

    assert copy.deepcopy(calendar) == calendar
    assert pickle.loads(pickle.dumps(calendar)).covers(utc("2026-12-25 12:00"))


REFUSED = [
    # definition, what the message says
    ({"name": ""}, "name is printable text"),
    ({"name": " holidays"}, "name is printable text"),
    ({"name": "a\nb"}, "name is printable text"),
    ({"name": 7}, "name is printable text"),
    ({"name": "x" * 101}, "at most 100 characters, not 101"),
    ({"timezone": "Mars/Olympus"}, "Calendar 'holidays': timezone='Mars/Olympus': "),
    ({"timezone": "America"}, "Calendar 'holidays': timezone='America': "),
    ({"timezone": None}, "Calendar 'holidays': timezone=None: "),
    ({"days": "2026-12-24"}, "days='2026-12-24': a list is needed"),
    ({"days": {"2026-12-24": 1}}, "a list is needed"),
    ({"days": None}, "days=None: a list is needed"),
    ({"days": ["24.12.2026"]}, "days='24.12.2026': a date is needed, such as '2026-12-24'"),
    ({"days": ["20261224"]}, "a date is needed"),
    ({"days": ["２０２６-12-24"]}, "a date is needed"),
    ({"days": ["2026-02-30"]}, "days='2026-02-30': day"),
    ({"days": [datetime(2026, 12, 24, tzinfo=UTC)]}, "a date is needed"),
    ({"days": [20261224]}, "a date is needed"),
    ({"weekdays": [6]}, "weekdays=6: the name of a weekday is needed, one of mon, tue"),
    ({"weekdays": ["sa"]}, "the name of a weekday is needed"),
    ({"yearly": ["25-12"]}, "yearly='25-12': month must be in 1..12"),
    ({"yearly": ["02-30"]}, "yearly='02-30': day"),
    ({"yearly": ["2026-12-25"]}, "a month and a day are needed, such as '12-25'"),
    ({"daily": ["22:00"]}, "a start and an end are needed, such as '22:00-06:00'"),
    ({"daily": ["22:00-22:00"]}, "starts and ends at the same time"),
    ({"daily": ["18:00-24:00"]}, "a day ends at 00:00, not at 24:00"),
    ({"daily": ["25:00-06:00"]}, "hour must be in 0..23"),
    ({"daily": ["10pm-6am"]}, "a local time such as '22:00' is needed, not '10pm'"),
    ({"daily": [(time(22, tzinfo=UTC), time(6))]}, "a local time"),
    ({"daily": [22]}, "a start and an end are needed"),
    ({"windows": ["2026-12-20T18:00"]}, "a start and an end are needed"),
    ({"windows": ["2026-12-20/2026-12-24"]}, "a date with a time such as '2026-12-20T18:00' is needed"),
    ({"windows": ["2027-01-02T06:00/2026-12-20T18:00"]}, "it ends before it starts"),
    ({"windows": [("2026-12-20T18:00", "2026-12-20T18:00")]}, "it ends before it starts"),
    ({"windows": ["0001-01-01T00:00+14:00/2026-12-20T18:00"]}, "is too far away"),
    ({"windows": [("2026-12-20T18:00", "2026-12-21T18:00", "x")]}, "a start and an end are needed"),
    ({"days": ["2026-12-24"] * 1001}, "at most 1000 entries are possible, not 1001"),
    ({"day": ["2026-12-24"]}, "Calendar 'holidays': unknown key 'day'; did you mean 'days'?"),
    ({"rules": 1}, "unknown key 'rules'"),
    ({"color": 1}, "unknown key 'color'; known are name, timezone, days"),
    ({7: 1}, "unknown key 7"),
]


@pytest.mark.parametrize(("definition", "words"), REFUSED)
def test_what_makes_no_sense_is_refused_with_the_reason(definition: dict[Any, Any], words: str) -> None:
    with pytest.raises(JobDefinitionError) as refusal:
        Calendar.from_dict({"name": "holidays", **definition})

    assert words in str(refusal.value)


@pytest.mark.parametrize("values", [None, ["holidays"], "holidays"])
def test_a_definition_that_is_no_mapping_is_refused(values: Any) -> None:
    with pytest.raises(JobDefinitionError, match="A calendar is a mapping with the keys name, timezone"):
        Calendar.from_dict(values)


def test_a_definition_without_a_name_is_refused() -> None:
    with pytest.raises(JobDefinitionError, match="A calendar needs a name"):
        Calendar.from_dict({"days": []})


times = st.times().map(lambda value: value.replace(microsecond=0))
moments = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
calendars = st.builds(
    Calendar,
    st.just("holidays"),
    st.sampled_from(["UTC", BERLIN, "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns"]),
    days=st.sets(st.dates(date(1900, 1, 1), date(2200, 1, 1)), max_size=3),
    weekdays=st.sets(st.sampled_from(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]), max_size=2),
    yearly=st.sets(st.dates().map(lambda day: f"{day:%m-%d}"), max_size=3),
    windows=st.lists(st.tuples(moments, moments).filter(lambda pair: pair[0] < pair[1]), max_size=3),
    daily=st.lists(st.tuples(times, times).filter(lambda pair: pair[0] != pair[1]), max_size=2),
)


@settings(deadline=None)
@given(calendars)
def test_a_calendar_comes_back_from_json_unchanged(calendar: Calendar) -> None:
    again = Calendar.from_dict(json.loads(json.dumps(calendar.to_dict())))

    assert again == calendar
    assert again.to_dict() == calendar.to_dict()
    assert again.rules == calendar.rules


@settings(deadline=None)
@given(calendars, moments)
def test_a_calendar_covers_what_any_of_its_parts_covers(calendar: Calendar, instant: datetime) -> None:
    parts = [
        Calendar("part", calendar.timezone, **{part: getattr(calendar, part)})
        for part in ("days", "weekdays", "yearly", "windows", "daily")
    ]

    assert calendar.covers(instant) == any(part.covers(instant) for part in parts)


@settings(deadline=None)
@given(times, times, moments)
def test_hours_and_the_other_hours_cover_the_day(start: time, end: time, instant: datetime) -> None:
    if start == end:
        return
    hours, others = Calendar("hours", daily=[(start, end)]), Calendar("others", daily=[(end, start)])

    assert hours.covers(instant) != others.covers(instant)
