from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from django_leasejobs.policies.moved import instant_meant
from django_leasejobs.schedules import parse

DAILY = parse("0 2 * * *", "Asia/Kolkata")
INSTANT = datetime(2027, 3, 1, 20, 30, tzinfo=UTC)
A_DAY = timedelta(days=1)


@pytest.mark.parametrize("minutes", [0, 15, -15, 30, -30, 60, -60, 180, -180])
def test_a_cursor_that_is_off_by_a_shift_means_the_instant(minutes):
    cursor = INSTANT + timedelta(minutes=minutes)

    assert instant_meant(DAILY, cursor, INSTANT - A_DAY) == INSTANT
    assert instant_meant(DAILY, cursor, None) == INSTANT


@pytest.mark.parametrize(
    "off", [timedelta(minutes=7), timedelta(seconds=1), timedelta(minutes=195), -timedelta(hours=4)]
)
def test_any_other_cursor_is_taken_at_its_word(off):
    assert instant_meant(DAILY, INSTANT + off, None) == INSTANT + off


def test_an_instant_that_is_recorded_is_not_meant_again():
    assert instant_meant(DAILY, INSTANT + timedelta(hours=1), INSTANT) == INSTANT + timedelta(hours=1)


def test_a_schedule_at_its_end_leaves_the_cursor_alone():
    schedule = parse("@at 2027-03-02T02:00", "Asia/Kolkata")

    assert instant_meant(schedule, INSTANT, None) == INSTANT
    assert instant_meant(schedule, INSTANT + A_DAY, None) == INSTANT + A_DAY
