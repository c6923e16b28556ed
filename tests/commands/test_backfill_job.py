from __future__ import annotations

from datetime import UTC, datetime

import pytest

from django_leasejobs.models import Run
from django_leasejobs.policies.calendars import Calendar
from django_leasejobs.registry import registry
from tests.commands.calling import Called, call
from tests.docs.pages import blocks, page
from tests.support.factories import make_job

pytestmark = pytest.mark.django_db

DAYS = ("--from", "2026-03-27", "--to", "2026-03-30")


@pytest.fixture
def nightly():
    return make_job(name="nightly", schedule="30 2 * * *", timezone="Europe/Berlin")


def test_it_makes_one_run_for_each_instant_of_the_range(nightly) -> None:
    called = call("backfill_job", "nightly", *DAYS)

    assert called == Called(
        0, "Made 4 runs of nightly, oldest first: Fri 2026-03-27 02:30+01:00 to Mon 2026-03-30 02:30+02:00.\n"
    )
    assert list(Run.objects.order_by("pk").values_list("scheduled_for", "origin", "triggered_by")) == [
        (datetime(2026, 3, day, hour, minute, tzinfo=UTC), "backfill", "backfill_job")
        for day, hour, minute in ((27, 1, 30), (28, 1, 30), (29, 1, 0), (30, 0, 30))
    ]


def test_twice_it_makes_nothing_more(nightly) -> None:
    call("backfill_job", "nightly", *DAYS)

    assert call("backfill_job", "nightly", *DAYS).lines == ["Made 0 runs of nightly.", "4 have a run already."]
    assert Run.objects.count() == 4


def test_a_dry_run_tells_the_count_and_writes_nothing(nightly) -> None:
    called = call("backfill_job", "nightly", *DAYS, "--dry-run", "--limit", "3")

    assert called.lines == [
        "Would make 4 runs of nightly, oldest first: Fri 2026-03-27 02:30+01:00 to Mon 2026-03-30 02:30+02:00.",
        "That is more than the limit of 3: shorten the range, or give --limit 4.",
    ]
    assert not Run.objects.exists()


def test_the_limit_has_to_be_raised_on_purpose(nightly) -> None:
    called = call("backfill_job", "nightly", *DAYS, "--limit", "3")

    assert (called.status, called.out) == (1, "")
    assert called.err == (
        "limit: 4 instants of 'nightly' have no run, more than the limit of 3;"
        " shorten the range, or raise the limit on purpose"
    )
    assert not Run.objects.exists()


def test_what_is_left_out_is_told(nightly) -> None:
    registry.add_calendar(Calendar("sunday", weekdays=["sun"], timezone="Europe/Berlin"))
    nightly.exclude, nightly.next_run_at = ["sunday"], datetime(2026, 3, 30, 0, 30, tzinfo=UTC)
    nightly.save()

    assert call("backfill_job", "nightly", *DAYS).lines == [
        "Made 2 runs of nightly, oldest first: Fri 2026-03-27 02:30+01:00 to Sat 2026-03-28 02:30+01:00.",
        "1 are left out: calendars exclude them.",
        "From Mon 2026-03-30 02:30+02:00 on the workers plan them by themselves.",
    ]


def test_the_page_shows_what_it_prints(nightly) -> None:
    shown = blocks(page("policies"), "console")[0].splitlines()

    assert call(*shown[0].split()[3:]).lines == shown[1:]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["weekly", *DAYS], "There is no job named 'weekly'"),
        (["nightly", "--from", "2026-03-30", "--to", "2026-03-27"], "to: the range ends at 2026-03-27T22:59:59.999999"),
        (["nightly", "--from", "2999-01-01", "--to", "2999-01-02"], "from: 2998-12-31T23:00:00+00:00 is in the future"),
        (["nightly", "--from", "monday", "--to", "2026-03-27"], "--from 'monday' is not a date or time"),
        (["nightly", "--from", "2026-03-27", "--to", "2026-02-30"], "--to '2026-02-30' is not a date or time"),
        (["nightly", *DAYS, "--limit", "0"], "--limit 0: at least 1 is needed."),
        (["by hand", *DAYS], "schedule: 'by hand' has no schedule"),
    ],
)
def test_bad_input_is_refused_with_the_reason(nightly, arguments, words) -> None:
    make_job(name="by hand")

    called = call("backfill_job", *arguments)

    assert (called.status, called.out) == (1, "")
    assert called.err.startswith(words)
    assert not Run.objects.exists()
