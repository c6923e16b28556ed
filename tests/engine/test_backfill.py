from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.engine.backfill import backfill_job
from django_leasejobs.engine.outcomes import Succeeded
from django_leasejobs.exceptions import ScheduleError, UnknownJob
from django_leasejobs.models import Job, Run, RunStatus
from django_leasejobs.policies.calendars import Calendar
from django_leasejobs.registry import registry
from tests.support.factories import claim, make_due_job, make_job, make_task, now
from tests.support.planning import MINUTE, come_due, minutely, plan_all, this_minute, told
from tests.support.rows import all_rows, end

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("within_a_minute")]

HOUR = timedelta(hours=1)


def outage(minutes, **values):
    """A minutely job whose workers were down; return it with the first instant of the outage."""
    job = make_due_job(ago=minutes * MINUTE, **values)
    first = job.next_run_at
    plan_all()
    return Job.objects.get(pk=job.pk), first


def counted(job):
    return sum(count for _, count, _ in told(job))


def test_each_instant_without_a_row_gets_a_run_that_bears_it() -> None:
    instant = this_minute()
    job = minutely(kwargs={"a": 1}, retries=2, priority=5)

    filled = backfill_job(job.name, start=instant - 3 * MINUTE, end=instant - MINUTE, triggered_by="anna")

    runs = list(Run.objects.order_by("pk"))
    assert filled.instants == tuple(instant - number * MINUTE for number in (3, 2, 1))
    assert [run.scheduled_for for run in runs] == list(filled.instants)
    assert {(run.origin, run.status, run.triggered_by, run.retries, run.priority) for run in runs} == {
        ("backfill", "READY", "anna", 2, 4)
    }
    assert runs[0].kwargs == {"a": 1}
    assert runs[0].available_at <= now()
    assert (filled.recorded, filled.excluded, filled.unclear, filled.dry_run) == (0, 0, 0, False)


def test_running_it_twice_makes_nothing_twice() -> None:
    job, first = outage(30)
    backfill_job(job.name, start=first, end=first + 9 * MINUTE)
    before = all_rows()

    again = backfill_job(job.name, start=first, end=first + 9 * MINUTE)

    assert (again.instants, again.recorded) == ((), 10)
    assert all_rows() == before


def test_a_dry_run_counts_and_writes_nothing() -> None:
    job, first = outage(30)
    before = all_rows()

    tried = backfill_job(job.name, start=first, end=first + 9 * MINUTE, dry_run=True, limit=3)

    assert (len(tried.instants), tried.dry_run) == (10, True)
    assert all_rows() == before


@pytest.mark.parametrize(
    ("start", "end", "left"),
    [
        (0, 29, [("MISSED", 1)]),
        (0, 9, [("MISSED", 21)]),
        (20, 29, [("MISSED", 20), ("MISSED", 1)]),
        (10, 19, [("MISSED", 10), ("MISSED", 11)]),
        (5, 5, [("MISSED", 5), ("MISSED", 25)]),
        (0, 0, [("MISSED", 30)]),
        (-20, -1, [("MISSED", 31)]),
    ],
)
def test_instants_are_taken_out_of_the_row_that_said_they_were_missed(start, end, left) -> None:
    """I2: each instant has exactly one row, before and after."""
    instant = this_minute() - 31 * MINUTE
    job = minutely(next_run_at=instant, ends_at=instant + 30 * MINUTE, start_deadline=timedelta(seconds=1))
    plan_all()
    assert told(job) == [("MISSED", 31, "more than 1s late, past the start deadline")]

    filled = backfill_job(job.name, start=instant + start * MINUTE, end=instant + end * MINUTE)

    asked = end - start + 1
    missed = Run.objects.filter(status=RunStatus.MISSED).order_by("scheduled_for")
    assert len(filled.instants) == asked == Run.objects.filter(status=RunStatus.READY).count()
    assert [(run.status, run.instants) for run in missed] == left
    for run in missed:
        span = (run.scheduled_until or run.scheduled_for) - run.scheduled_for
        assert span == (run.instants - 1) * MINUTE
        assert run.reason == "more than 1s late, past the start deadline"
        assert (run.scheduled_until is None) == (run.instants == 1)
    assert counted(job) == 31 + (asked if start < 0 else 0)


def test_what_is_left_can_be_filled_later() -> None:
    job, first = outage(30)
    backfill_job(job.name, start=first + 10 * MINUTE, end=first + 12 * MINUTE)
    backfill_job(job.name, start=first + 20 * MINUTE, end=first + 20 * MINUTE)

    rest = backfill_job(job.name, start=first, end=now())

    assert rest.recorded == 5
    assert {status for status, _, _ in told(job)} == {"READY"}
    assert counted(job) == len(rest.instants) + 5 == Run.objects.count()


def test_an_instant_skipped_because_of_overlap_has_no_run_and_gets_one() -> None:
    job, instant = minutely(), this_minute() - 10 * MINUTE
    come_due(job, instant)
    assert come_due(job, instant + MINUTE).status == RunStatus.SKIPPED

    filled = backfill_job(job.name, start=instant, end=instant + MINUTE)

    assert (filled.instants, filled.recorded) == ((instant + MINUTE,), 1)
    assert told(job) == [("READY", 1, "")] * 2


def test_an_excluded_instant_gets_no_run_whatever_its_row_says() -> None:
    instant = this_minute() - 30 * MINUTE
    registry.add_calendar(Calendar("freeze", windows=[(instant + 5 * MINUTE, instant + 10 * MINUTE)]))
    job, first = outage(30, exclude=["freeze"])
    before = counted(job)

    filled = backfill_job(job.name, start=first - 5 * MINUTE, end=first + 20 * MINUTE)

    assert filled.excluded == 5
    assert len(filled.instants) == 21
    assert ("SKIPPED", 5, "excluded by the calendar 'freeze'") in told(job)
    assert counted(job) == before + 5


@pytest.mark.parametrize("status", ["SUCCESSFUL", "FAILED", "CANCELLED"])
def test_an_instant_that_had_a_run_is_left_alone_however_it_ended(status) -> None:
    job, instant = minutely(), this_minute() - 10 * MINUTE
    run = come_due(job, instant)
    Run.objects.filter(pk=run.pk).update(status=status, finished_at=now())

    assert backfill_job(job.name, start=instant, end=instant).recorded == 1
    assert Run.objects.get().status == status


def test_the_row_of_an_earlier_schedule_is_not_guessed_at() -> None:
    job, first = outage(60)
    Job.objects.update(schedule="*/2 * * * *")
    before = all_rows()

    filled = backfill_job(job.name, start=first, end=first + 30 * MINUTE)

    assert (filled.instants, filled.unclear in (15, 16)) == ((), True)
    assert all_rows() == before


def test_more_than_the_limit_is_refused_until_it_is_raised() -> None:
    job, first = outage(30)
    before = all_rows()

    with pytest.raises(
        ScheduleError, match=r"limit: 10 instants of .* have no run, more than the limit of 9;"
    ) as caught:
        backfill_job(job.name, start=first, end=first + 9 * MINUTE, limit=9)

    assert (caught.value.field, all_rows()) == ("limit", before)
    assert len(backfill_job(job.name, start=first, end=first + 9 * MINUTE, limit=10).instants) == 10


def test_a_range_beyond_all_measure_is_refused() -> None:
    job = make_job(schedule="@every 1s")

    with pytest.raises(ScheduleError, match="more than 200,000 instants"):
        backfill_job(job.name, start=now() - timedelta(days=10), end=now(), dry_run=True)


def test_what_is_due_or_to_come_is_left_to_the_planner() -> None:
    cursor = this_minute() - 5 * MINUTE
    job = minutely(next_run_at=cursor)

    filled = backfill_job(job.name, start=cursor - 2 * MINUTE, end=now() + HOUR)

    assert filled.instants == (cursor - 2 * MINUTE, cursor - MINUTE)
    assert filled.left_to_plan == cursor


def test_nothing_is_filled_before_the_job_starts_after_it_ends_or_ahead_of_now() -> None:
    instant = this_minute() - 20 * MINUTE
    job = minutely(starts_at=instant, ends_at=instant + 2 * MINUTE)

    filled = backfill_job(job.name, start=instant - HOUR, end=now() + HOUR)

    assert filled.instants == (instant, instant + MINUTE, instant + 2 * MINUTE)
    job = minutely(enabled=False)
    assert backfill_job(job.name, start=now() - MINUTE, end=now() + HOUR).instants[-1] <= now()


def test_the_runs_are_claimed_oldest_first_and_one_at_a_time() -> None:
    make_task()
    job, first = minutely(), this_minute() - 20 * MINUTE
    backfill_job(job.name, start=first, end=first + 2 * MINUTE)
    claimed = []
    for _ in range(3):
        (run,) = claim(limit=10).runs
        claimed.append(run.scheduled_for)
        end(run, Succeeded())

    assert claimed == [first, first + MINUTE, first + 2 * MINUTE]


def test_ten_times_the_instants_take_as_many_statements() -> None:
    counts = []
    for size in (10, 100):
        job, first = outage(size + 20)
        with CaptureQueriesContext(connection) as queries:
            backfill_job(job.name, start=first, end=first + (size - 1) * MINUTE)
        counts.append(len(queries))

    # SQLite splits an insert of a hundred rows.
    assert counts[1] <= counts[0] + (5 if connection.vendor == "sqlite" else 0)


@pytest.mark.parametrize(
    ("values", "start", "end", "words"),
    [
        ({}, timedelta(0), -MINUTE, "to: the range ends at"),
        ({}, HOUR, 2 * HOUR, "from: .* is in the future"),
        ({"schedule": ""}, -HOUR, timedelta(0), "schedule: .* has no schedule, so there are no instants to fill"),
        ({"exclude": ["gone"]}, -HOUR, timedelta(0), "exclude: there is no calendar named 'gone'"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_field(values, start, end, words) -> None:
    job = minutely(**values)

    with pytest.raises(ScheduleError, match=words):
        backfill_job(job.name, start=now() + start, end=now() + end)


def test_a_range_without_a_zone_is_refused() -> None:
    job = minutely()

    with pytest.raises(ScheduleError, match="from: needs an offset or time zone"):
        backfill_job(job.name, start=now().replace(tzinfo=None), end=now())


def test_an_unknown_job_is_refused() -> None:
    with pytest.raises(UnknownJob, match="There is no job named 'nightly' in the job table"):
        backfill_job("nightly", start=now(), end=now())
