from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_leasejobs.policies.spreading import offset

HOUR = timedelta(hours=1)
spreads = st.timedeltas(timedelta(microseconds=1), timedelta(days=400))

PINNED = [
    # A change of these moves the instants of everybody's jobs.
    ("nightly_report", HOUR, timedelta(microseconds=1_861_238_167)),
    ("stock.reconcile", HOUR, timedelta(microseconds=2_682_498_773)),
    ("stock.reconcile", timedelta(minutes=1), timedelta(microseconds=44_708_312)),
    ("Überfällig", HOUR, timedelta(microseconds=3_094_453_416)),
    ("", HOUR, timedelta(microseconds=2_848_499_030)),
]


@pytest.mark.parametrize(("name", "spread", "expected"), PINNED)
def test_offset(name: str, spread: timedelta, expected: timedelta) -> None:
    assert offset(name, spread) == expected


def test_no_spread_no_offset() -> None:
    assert offset("nightly_report", timedelta(0)) == timedelta(0)


def test_a_negative_spread_is_refused() -> None:
    with pytest.raises(ValueError, match="can't be negative"):
        offset("nightly_report", -HOUR)


def test_another_process_draws_the_same_offset() -> None:
    code = (
        "import sys\n"
        "from datetime import timedelta\n"
        "from django_leasejobs.policies.spreading import offset\n"
        "drawn = offset('nightly_report', timedelta(hours=1))\n"
        "assert drawn == timedelta(microseconds=int(sys.argv[1]))"
    )
    expected = offset("nightly_report", HOUR) // timedelta(microseconds=1)

    subprocess.run([sys.executable, "-c", code, str(expected)], check=True)


@given(st.text(), spreads)
def test_an_offset_lies_within_its_spread_and_never_changes(name: str, spread: timedelta) -> None:
    drawn = offset(name, spread)

    assert timedelta(0) <= drawn < spread
    assert offset(name, spread) == drawn


def test_a_thousand_jobs_are_spread_evenly() -> None:
    minutes = [offset(f"shop.job_{number}", HOUR) // timedelta(minutes=6) for number in range(1000)]

    assert all(60 <= minutes.count(tenth) <= 140 for tenth in range(10))
