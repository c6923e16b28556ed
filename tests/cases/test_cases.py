"""Handed real-world cases, as data: schedules with their next instants, crontabs with their entries."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from django_leasejobs.schedules import ScheduleError, parse
from django_leasejobs.schedules.crontab import JobEntry, entry_fields, read_crontab

DATA = Path(__file__).parent / "data"
SCHEDULES = json.loads((DATA / "schedule_cases.json").read_text())
CRONTABS = sorted((DATA / "crontabs").glob("*.json"))


def next_instants(expr, timezone, start, number):
    schedule, instant, found = parse(expr, timezone), datetime.fromisoformat(start), []
    for _ in range(number):
        instant = schedule.next_after(instant)
        found.append(instant)
    return found


def instants(texts):
    return [datetime.fromisoformat(text) for text in texts]


@pytest.mark.parametrize("case", [case for case in SCHEDULES if "expected" in case], ids=lambda case: case["id"])
def test_a_schedule_of_the_cases_fires_when_it_should(case):
    found = next_instants(case["expr"], case["tz"], case["start"], len(case["expected"]))

    assert found == instants(case["expected"])


@pytest.mark.parametrize("case", [case for case in SCHEDULES if "error" in case], ids=lambda case: case["id"])
def test_a_schedule_of_the_cases_is_refused(case):
    with pytest.raises(ScheduleError):
        parse(case["expr"], case["tz"])


def test_every_schedule_case_is_of_a_known_sort():
    assert len(SCHEDULES) >= 52
    assert all(("expected" in case) != ("error" in case) for case in SCHEDULES)


@pytest.mark.parametrize("expected", CRONTABS, ids=lambda path: path.stem)
def test_a_crontab_of_the_cases_is_read_line_by_line(expected):
    text = expected.with_suffix(".cron").read_bytes().decode()
    wanted = json.loads(expected.read_text())["entries"]
    told_apart = {"note", "next_3_utc", "why", "warning"}

    found = [entry_fields(entry) for entry in read_crontab(text)]

    assert [{key: value for key, value in entry.items() if key not in told_apart} for entry in found] == [
        {key: value for key, value in entry.items() if key not in told_apart} for entry in wanted
    ]


@pytest.mark.parametrize("expected", CRONTABS, ids=lambda path: path.stem)
def test_the_jobs_of_a_crontab_fire_when_they_should(expected):
    text = expected.with_suffix(".cron").read_bytes().decode()
    handed = json.loads(expected.read_text())
    wanted = [instants(entry["next_3_utc"]) for entry in handed["entries"] if entry["kind"] == "job"]

    found = [
        next_instants(entry.expr, entry.tz or "UTC", handed["start_for_next"], 3)
        for entry in read_crontab(text)
        if isinstance(entry, JobEntry)
    ]

    assert found == wanted
