from __future__ import annotations

import pytest

from django_leasejobs.worker.pools.pace import AHEAD_SECONDS, MOST, SAMPLES, Pace


def paced(*seconds: float) -> Pace:
    pace = Pace()
    for item in seconds:
        pace.note(item)
    return pace


def test_runs_are_handed_over_one_by_one_until_they_are_known_to_be_short():
    assert paced().capacity() == 1
    assert paced(*[0.001] * (SAMPLES - 1)).capacity() == 1
    assert paced(*[0.001] * SAMPLES).capacity() == pytest.approx(AHEAD_SECONDS / 0.001, abs=1)


def test_no_more_than_a_fraction_of_a_second_or_a_fixed_number_is_handed_over():
    assert paced(*[0.0] * 50).capacity() == MOST
    assert paced(*[0.01] * 50).capacity() <= AHEAD_SECONDS / 0.01


def test_one_long_run_ends_the_handing_over_at_once_and_it_must_be_earned_again():
    pace = paced(*[0.001] * 50, 5.0)
    assert pace.capacity() == 1
    pace.note(0.001)
    assert pace.capacity() == 1


def test_runs_of_middling_length_go_one_by_one():
    assert paced(*[0.05] * 50).capacity() == 1
