from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tests.commands.calling import call, shell


def previewed(*arguments: str) -> dict:
    return json.loads(call("preview_schedule", *arguments, "--format", "json").out)


def test_the_day_whose_clock_skips_the_time_is_marked() -> None:
    called = call(
        "preview_schedule", "30 2 * * *", "--timezone", "Europe/Berlin", "--from", "2027-03-27", "--count", "4"
    )

    assert called.lines == [
        "at 02:30 every day, Europe/Berlin",
        "",
        "LOCAL TIME                  UTC                   CLOCK CHANGE",
        "Sat 2027-03-27 02:30+01:00  2027-03-27 01:30:00Z  -",
        "Sun 2027-03-28 03:00+02:00  2027-03-28 01:00:00Z  02:30 does not exist on this day: runs at 03:00",
        "Mon 2027-03-29 02:30+02:00  2027-03-29 00:30:00Z  -",
        "Tue 2027-03-30 02:30+02:00  2027-03-30 00:30:00Z  -",
    ]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("30 2 * * *", ["02:30 happens twice on this day: runs the first time only", None]),
        ("30 * * * *", [*["02:30 happens twice on this day: runs both times"] * 2, None]),
    ],
)
def test_an_hour_that_comes_twice_is_marked(text, marks) -> None:
    facts = previewed(
        text, "--timezone", "Europe/Berlin", "--from", "2027-10-31T02:00+02:00", "--count", str(len(marks))
    )

    assert [instant["clock_change"] for instant in facts["instants"]] == marks


def test_json_has_the_instants_in_local_time_and_in_utc() -> None:
    assert previewed("@every 90s", "--timezone", "Asia/Kathmandu", "--from", "2027-01-01T05:45", "--count", "2") == {
        "schedule": "@every 90s",
        "timezone": "Asia/Kathmandu",
        "words": "every 1m30s",
        "instants": [
            {"local": "2027-01-01T05:45:00+05:45", "utc": "2027-01-01T00:00:00Z", "clock_change": None},
            {"local": "2027-01-01T05:46:30+05:45", "utc": "2027-01-01T00:01:30Z", "clock_change": None},
        ],
    }


def test_it_begins_with_now_and_shows_ten() -> None:
    began = datetime.now(UTC)

    instants = [datetime.fromisoformat(item["utc"]) for item in previewed("* * * * *")["instants"]]

    assert began <= instants[0] <= datetime.now(UTC) + timedelta(minutes=1)
    gaps = {later - earlier for earlier, later in pairwise(instants)}
    assert (len(instants), gaps) == (10, {timedelta(minutes=1)})


def test_a_hashed_field_takes_the_name_of_the_job() -> None:
    first, again, other = (
        previewed("H H * * *", "--name", name, "--from", "2027-01-01", "--count", "1")["instants"]
        for name in ("nightly", "nightly", "weekly")
    )

    assert first == again != other


@pytest.mark.parametrize("text", ["", "@at 2020-01-01T00:00:00Z"])
def test_a_schedule_without_an_instant_to_come_says_so(text) -> None:
    assert call("preview_schedule", text).lines[-1] == "No instant is to come."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["61 * * * *"], "minute: minute 61 is out of range 0-59"),
        (["0 0 31 2 *"], "schedule: '0 0 31 2 *' never fires: there is no such date"),
        (
            ["* * * * *", "--timezone", "Europe/Berln"],
            "timezone: 'Europe/Berln' is not a known time zone; did you mean",
        ),
        (["* * * * *", "--timezone", "America"], "timezone: 'America' is a group of time zones, not one"),
        (["* * * * *", "--from", "tomorrow"], "--from 'tomorrow' is not a date or time; write for example 2027-03-27"),
        (
            ["* * * * *", "--from", "0001-01-01", "--timezone", "Asia/Tokyo"],
            "--from '0001-01-01' is not a date or time",
        ),
        (["* * * * *", "--count", "0"], "--count 0: a number from 1 to 10,000 is needed."),
    ],
)
def test_bad_input_is_refused_with_the_reason(arguments, words) -> None:
    called = call("preview_schedule", *arguments)

    assert (called.status, called.out) == (1, "")
    assert called.err.startswith(words)


def test_it_needs_no_database() -> None:
    called = shell("preview_schedule", "0 2 * * *", DATABASE_URL="sqlite:////nowhere/at/all.sqlite3")

    assert (called.status, called.lines[0]) == (0, "at 02:00 every day, UTC")


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("H H * * *", True),
        ("0 2,h * * 1", True),
        ("H(0-5)/2 * * * *", True),
        ("0 0 * * thu", False),
        ("@hourly", False),
    ],
)
def test_a_hashed_schedule_without_a_name_is_noted_beside_the_output(text: str, noted: bool) -> None:
    named, unnamed = (call("preview_schedule", text, *more) for more in (("--name", "report"), ()))

    assert (named.status, named.err, unnamed.status) == (0, "", 0)
    assert ("give --name" in unnamed.err) is noted
    assert "give --name" not in unnamed.out
