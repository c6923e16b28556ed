from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from django_leasejobs.durations import LONGEST, format_duration, parse_duration, rough_duration
from django_leasejobs.exceptions import DurationError


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("90", 90),
        (90, 90),
        (0, 0),
        ("0", 0),
        (1.5, 1.5),
        ("1.5", 1.5),
        ("90s", 90),
        ("15m", 900),
        ("1h30m", 5400),
        ("2d", 172_800),
        ("1w", 604_800),
        ("250ms", 0.25),
        ("1.5h", 5400),
        ("1w2d3h4m5s6ms", 788_645.006),
        (" 90s ", 90),
        (timedelta(minutes=2), 120),
    ],
)
def test_a_length_of_time_is_read(value, seconds):
    assert parse_duration(value) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "not a length of time"),
        (" ", "not a length of time"),
        ("soon", "'15m', '1h30m'"),
        ("15 min", "not a length of time"),
        ("15M", "not a length of time"),
        ("30m1h", "not a length of time"),
        ("1h1h", "not a length of time"),
        ("1h 30m", "not a length of time"),
        ("1_000", "not a length of time"),
        ("1e3", "not a length of time"),
        ("９０", "not a length of time"),
        ("nan", "not a length of time"),
        ("-90s", "is negative"),
        (-1, "is negative"),
        (-0.5, "is negative"),
        (timedelta(seconds=-1), "is negative"),
        (float("nan"), "not a length of time"),
        (float("inf"), "not a length of time"),
        (float("-inf"), "not a length of time"),
        (True, "not a length of time"),
        (None, "not a length of time"),
        ([90], "not a length of time"),
        (b"90", "not a length of time"),
        pytest.param(10**400, "longer than 100 years", id="huge"),
        (10**12, "longer than 100 years"),
        ("99999999999w", "longer than 100 years"),
        ("99999999999", "longer than 100 years"),
        (timedelta.max, "longer than 100 years"),
        pytest.param("9" * 5000, "...", id="endless"),
    ],
)
def test_what_is_no_length_of_time_is_refused_with_the_way_out(value, words):
    with pytest.raises(DurationError) as caught:
        parse_duration(value)

    assert words in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(0), "0s"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(hours=1, minutes=30), "1h30m"),
        (timedelta(weeks=1), "7d"),
        (timedelta(milliseconds=250), "250ms"),
        (timedelta(microseconds=1), "0.001ms"),
        (timedelta(seconds=1, microseconds=1500), "1s1.5ms"),
        (timedelta(seconds=-90), "-1m30s"),
    ],
)
def test_a_length_of_time_is_written_with_its_units(duration, text):
    assert format_duration(duration) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(microseconds=37_289), "37ms"),
        (timedelta(microseconds=29_000), "29ms"),
        (timedelta(microseconds=999_999), "999ms"),
        (timedelta(seconds=1, microseconds=999_999), "1s"),
        (timedelta(minutes=1, microseconds=1), "1m"),
        (timedelta(microseconds=300), "0s"),
        (timedelta(microseconds=-300), "0s"),
        (timedelta(seconds=-90, microseconds=-1), "-1m30s"),
    ],
)
def test_what_was_measured_is_written_without_what_nobody_reads(duration, text):
    assert rough_duration(duration) == text


@settings(deadline=None)
@given(st.timedeltas(min_value=timedelta(0), max_value=LONGEST))
def test_what_is_written_is_read_back(duration):
    assert parse_duration(format_duration(duration)) == duration
