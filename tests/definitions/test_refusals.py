"""Each bad value, and each bad combination, is refused with the option, the value and the reason."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from django_leasejobs.definitions import Options, define, task_of
from django_leasejobs.exceptions import JobDefinitionError, ScheduleError
from django_leasejobs.policies.timing import Timing, check_timing
from django_leasejobs.registry import Task

A_DAY = timedelta(days=1)
START = datetime(2027, 3, 1, tzinfo=UTC)
NAIVE = datetime(2027, 3, 1)
DAILY = "0 2 * * *"


def report(warehouse="main"):
    """Report on a warehouse.

    In detail.
    """


def defined(**options):
    return define(Task(name="stock.report", func=report), Options(**options), default_lease=timedelta(seconds=60))


REFUSED = [
    # options, field, words
    ({"args": "abc"}, "args", "a list or tuple is needed."),
    ({"args": 5}, "args", "a list or tuple is needed."),
    ({"kwargs": [1]}, "kwargs", "a dict is needed."),
    ({"description": 5}, "description", "a text is needed."),
    ({"queue": ""}, "queue", "a printable text of 1 to 100 characters is needed."),
    ({"queue": "x" * 101}, "queue", "a printable text of 1 to 100 characters"),
    ({"queue": "a\nb"}, "queue", "a printable text"),
    ({"queue": None}, "queue", "a printable text"),
    ({"priority": 101}, "priority", "a whole number from -100 to 100 is needed."),
    ({"priority": "high"}, "priority", "a whole number"),
    ({"priority": True}, "priority", "a whole number"),
    ({"retries": -1}, "retries", "a whole number from 0 to 1000000 is needed."),
    ({"retries": 1.5}, "retries", "a whole number"),
    ({"retries": None}, "retries", "a whole number"),
    ({"max_lost": -1}, "max_lost", "a whole number from 0"),
    ({"backoff": "soon"}, "backoff", "'soon' is not a length of time; write seconds such as 90"),
    ({"backoff": -1}, "backoff", "is negative; a length of time is 0 or more"),
    ({"backoff": float("nan")}, "backoff", "is not a length of time"),
    ({"backoff": float("inf")}, "backoff", "is not a length of time"),
    ({"lease": 0}, "lease", "at least 1 s and at most 100 years is needed."),
    ({"lease": "500ms"}, "lease", "at least 1 s"),
    ({"lease": "200000d"}, "lease", "longer than 100 years"),
    ({"timeout": 0}, "timeout", "at least 0.001 s"),
    ({"timeout": "5 minutes"}, "timeout", "is not a length of time"),
    ({"overlap": "never"}, "overlap", "one of skip, queue, allow, replace is needed."),
    ({"overlap": None}, "overlap", "one of skip, queue, allow, replace is needed."),
    ({"catch_up": "some"}, "catch_up", "one of latest, all, none is needed."),
    ({"pause_after_failures": 0}, "pause_after_failures", "a whole number from 1 to 1000000 is needed."),
    ({"enabled": "no"}, "enabled", "True or False is needed."),
    ({"schedule": 5}, "schedule", "a text such as '0 2 * * *' is needed."),
    ({"schedule": DAILY, "start_deadline": 0}, "start_deadline", "at least 1 s"),
    ({"schedule": DAILY, "spread": "-5m"}, "spread", "is negative"),
    ({"schedule": DAILY, "exclude": "holidays"}, "exclude", "a list of calendar names is needed."),
    ({"schedule": DAILY, "exclude": [5]}, "exclude", "a printable text of 1 to 100 characters is needed."),
    ({"schedule": DAILY, "starts_at": NAIVE}, "starts_at", "an aware datetime is needed"),
    ({"schedule": DAILY, "ends_at": NAIVE}, "ends_at", "an aware datetime is needed"),
    ({"schedule": DAILY, "starts_at": "2027-03-01"}, "starts_at", "an aware datetime is needed"),
    ({"start_deadline": "5m"}, "start_deadline", "it needs a schedule; this job has none."),
    ({"starts_at": START}, "starts_at", "it needs a schedule; this job has none."),
    ({"ends_at": START}, "ends_at", "it needs a schedule; this job has none."),
    ({"exclude": ["holidays"]}, "exclude", "it needs a schedule; this job has none."),
    ({"spread": "5m"}, "spread", "it needs a schedule; this job has none."),
    ({"schedule": DAILY, "starts_at": START, "ends_at": START}, "ends_at", "is not after starts_at"),
    ({"schedule": DAILY, "starts_at": START, "ends_at": START - A_DAY}, "ends_at", "is not after starts_at"),
    (
        {"schedule": DAILY, "starts_at": START, "ends_at": START + timedelta(hours=1)},
        "ends_at",
        "2027-03-01T01:00:00+00:00 leaves the schedule no instant: at 02:00 every day, UTC.",
    ),
    (
        {"schedule": "@at 2027-02-28T00:00:00Z", "starts_at": START},
        "starts_at",
        "2027-03-01T00:00:00+00:00 leaves the schedule no instant: once, on 2027-02-28 at 00:00, UTC.",
    ),
    ({"schedule": "@every 5m", "spread": "5m"}, "spread", "5m is not shorter than the time between two instants"),
    ({"schedule": "0 9,17 * * *", "spread": "8h"}, "spread", "two instants of the schedule, 8h."),
    ({"schedule": "* * * * *", "spread": "1h"}, "spread", "two instants of the schedule, 1m."),
]


@pytest.mark.parametrize(("options", "field", "words"), REFUSED)
def test_a_bad_option_is_refused_by_name(options, field, words):
    with pytest.raises(JobDefinitionError) as caught:
        defined(**options)

    assert caught.value.field == field
    assert str(caught.value).startswith(f"Job 'stock.report': {field}=")
    assert words in str(caught.value)
    assert words in caught.value.reason


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        ({"schedule": "61 * * * *"}, "minute", "minute 61 is out of range 0-59 (job 'stock.report': '61 * * * *')"),
        ({"schedule": "0 2 * *"}, "schedule", "has 4 fields"),
        ({"schedule": "0 0 31 2 *"}, "schedule", "never fires"),
        ({"schedule": "@at tomorrow"}, "time", "'tomorrow' is not a date and time"),
        ({"schedule": "@every 0s"}, "interval", "is too short"),
        ({"schedule": "x" * 256}, "schedule", "at most 255 characters are possible, not 256"),
        ({"schedule": DAILY, "timezone": "Europe/Berln"}, "timezone", "did you mean 'Europe/Berlin'?"),
        ({"timezone": "America"}, "timezone", "is a group of time zones, not one"),
        ({"timezone": None}, "timezone", "a time zone is given by its name, not None"),
    ],
)
def test_a_bad_schedule_or_zone_is_refused_with_the_part_at_fault(options, field, words):
    with pytest.raises(ScheduleError) as caught:
        defined(**options)

    assert caught.value.field == field
    assert words in caught.value.reason


@pytest.mark.parametrize("name", ["", "  ", " report", "report\n", "a\x00b", 5, "x" * 201])
def test_a_bad_name_is_refused(name):
    with pytest.raises(JobDefinitionError) as caught:
        task_of(report, name=name, takes_context=False, atomic=False)

    assert caught.value.field == "name"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"args": [1, 2]}, "The arguments don't fit 'stock.report' (warehouse='main'): too many positional arguments"),
        ({"kwargs": {"house": 1}}, "no parameter takes the keyword 'house'; did you mean 'warehouse'?"),
        ({"kwargs": {"warehouse": {1, 2}}}, "can't be stored as JSON"),
        ({"kwargs": {"warehouse": float("nan")}}, "can't be stored as JSON"),
        ({"kwargs": {"warehouse": "a\x00b"}}, "hold a NUL character"),
        ({"kwargs": {5: 1}}, "must be a dict with text keys"),
    ],
)
def test_arguments_that_the_function_or_the_database_could_not_take_are_refused(options, words):
    with pytest.raises(JobDefinitionError, match=r"'stock\.report'") as caught:
        defined(**options)

    assert words in str(caught.value)


def test_code_with_a_date_that_has_passed_can_still_be_imported():
    assert defined(schedule="@at 2020-01-01T00:00:00Z").schedule == "@at 2020-01-01T00:00:00Z"
    assert defined(schedule=DAILY, ends_at=datetime(2020, 1, 1, tzinfo=UTC)).ends_at.year == 2020


@pytest.mark.parametrize(
    ("values", "kind", "field"),
    [
        ({"schedule": "@at 2020-01-01T00:00:00Z"}, ScheduleError, "schedule"),
        ({"schedule": "@at 2027-02-28T23:59:59Z"}, ScheduleError, "schedule"),
        ({"schedule": DAILY, "ends_at": START - A_DAY}, JobDefinitionError, "ends_at"),
        (
            {"schedule": "@at 2027-03-02T00:00:00Z", "ends_at": START + timedelta(hours=1)},
            JobDefinitionError,
            "ends_at",
        ),
        ({"schedule": "@at 2027-03-02T00:00:00Z", "starts_at": START + 2 * A_DAY}, JobDefinitionError, "starts_at"),
    ],
)
def test_where_the_time_is_known_what_will_never_run_is_refused(values, kind, field):
    with pytest.raises(kind) as caught:
        check_timing(Timing(**values), name="report", now=START)

    assert caught.value.field == field


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"schedule": "  "},
        {"schedule": DAILY, "spread": timedelta(hours=23), "start_deadline": A_DAY, "exclude": ["holidays"]},
        {"schedule": "@at 2027-03-01T00:00:01Z", "spread": 5 * A_DAY},
        {"schedule": "@every 5m", "spread": timedelta(minutes=4, seconds=59)},
        {"schedule": DAILY, "starts_at": START + A_DAY, "ends_at": START + timedelta(hours=26)},
        {"schedule": "0 0 29 2 *", "timezone": "Pacific/Apia", "spread": 365 * A_DAY},
    ],
)
def test_what_makes_sense_is_let_pass(values):
    assert check_timing(Timing(**values), name="report", now=START).text == values.get("schedule", "").strip()


def test_the_defaults_are_those_that_are_promised():
    made = defined()

    assert (made.name, made.description, made.schedule, made.timezone) == (
        "stock.report", "Report on a warehouse.", "", "UTC",
    )  # fmt: skip
    assert (made.lease, made.timeout, made.retries, made.backoff) == (
        timedelta(seconds=60), None, 0, timedelta(seconds=10),
    )  # fmt: skip
    assert (made.max_lost, made.overlap, made.catch_up, made.start_deadline) == (3, "skip", "latest", None)
    assert (made.spread, made.pause_after_failures, made.enabled, made.queue, made.priority) == (
        timedelta(0), None, True, "default", 0,
    )  # fmt: skip
