from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from django_leasejobs import job
from django_leasejobs.checks import check_dates

NOW = datetime.now(UTC)


def once():
    """Nothing."""


@pytest.mark.parametrize(
    ("schedule", "options", "words"),
    [
        ("@at 2020-02-03T04:05:00Z", {}, "'@at 2020-02-03T04:05:00Z' has no instant to come: once, on 2020-02-03"),
        (
            "0 2 * * *",
            {"ends_at": datetime(2020, 1, 1, tzinfo=UTC)},
            "2020-01-01T00:00:00+00:00 leaves the schedule no",
        ),
    ],
)
def test_a_job_whose_date_has_passed_is_a_warning_not_a_fault(schedule, options, words):
    job(schedule, name="definitions.once", **options)(once)

    (warning,) = [item for item in check_dates() if "definitions.once" in item.msg]

    assert (warning.id, warning.is_serious()) == ("leasejobs.W003", False)
    assert words in warning.msg


@pytest.mark.parametrize(
    ("schedule", "options"),
    [
        (f"@at {NOW + timedelta(days=2):%Y-%m-%dT%H:%M}", {}),
        ("0 2 * * *", {"ends_at": NOW + timedelta(days=2)}),
        ("0 2 * * *", {}),
        (None, {}),
    ],
)
def test_a_job_with_something_to_come_is_none(schedule, options):
    job(schedule, name="definitions.once", **options)(once)

    assert [item for item in check_dates() if "definitions.once" in item.msg] == []
