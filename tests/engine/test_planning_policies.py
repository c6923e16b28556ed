"""A schedule meets an outage, a calendar, a deadline: which rows come of it, and at what cost."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.engine.backfill import backfill_job
from django_leasejobs.engine.pause import pause_job, resume_job
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.models import Calendar as CalendarRow
from django_leasejobs.models import Job, Run, RunStatus
from django_leasejobs.policies.calendars import Calendar
from django_leasejobs.policies.spreading import offset
from django_leasejobs.registry import registry
from tests.support.factories import claim, make_due_job, make_job, make_task, now
from tests.support.planning import MINUTE, come_due, minutely, plan_all, this_minute, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("within_a_minute")]

HOUR = timedelta(hours=1)
A_WEEK = 10_080
COALESCED = "coalesced into the instant of "
LATE = "more than 1h late, past the start deadline"
NOT_CAUGHT_UP = "more than 1m late, not caught up"
BEYOND_THE_BOUND = "not among the newest 100, the most that are caught up"


def planned_week(**policies):
    """Let nobody plan a minutely job for a week; return its rows by sort, and the statements that the plan took."""
    job = make_due_job(ago=(A_WEEK - 1) * MINUTE, **policies)
    first = job.next_run_at
    with CaptureQueriesContext(
        connection,
    ) as queries:
        (planned,) = plan_all()
    job.refresh_from_db()
    rows = list(Run.objects.filter(job=job).order_by("scheduled_for"))
    assert sum(run.instants for run in rows) == (job.next_run_at - first) // MINUTE
    assert planned.runs == sum(run.status == RunStatus.READY for run in rows)
    return rows, len(queries)


def statements_of_one_instant():
    make_due_job()
    with CaptureQueriesContext(connection) as queries:
        plan_jobs()
    return len(queries)


@pytest.mark.parametrize(
    ("policies", "missed", "runs"),
    [
        ({"catch_up": "latest"}, [(A_WEEK - 1, COALESCED)], 1),
        ({"catch_up": "none"}, [(A_WEEK - 1, NOT_CAUGHT_UP)], 1),
        ({"catch_up": "all"}, [(A_WEEK - 100, BEYOND_THE_BOUND)], 100),
        ({"catch_up": "latest", "start_deadline": HOUR}, [(A_WEEK - 60, LATE), (59, COALESCED)], 1),
        ({"catch_up": "none", "start_deadline": HOUR}, [(A_WEEK - 60, LATE)], 60),
        ({"catch_up": "all", "start_deadline": HOUR}, [(A_WEEK - 60, LATE)], 60),
        (
            {"catch_up": "all", "start_deadline": 3 * HOUR},
            [(A_WEEK - 180, "more than 3h"), (80, BEYOND_THE_BOUND)],
            100,
        ),
        ({"catch_up": "all", "overlap": "replace"}, [(A_WEEK - 1, COALESCED)], 1),
        (
            {"catch_up": "none", "overlap": "replace", "start_deadline": HOUR},
            [(A_WEEK - 60, LATE), (59, COALESCED)],
            1,
        ),
    ],
)
def test_a_week_without_workers_is_one_plan_and_a_few_rows(policies, missed, runs) -> None:
    one = statements_of_one_instant()

    rows, statements = planned_week(**policies)

    started, over = rows[len(missed) :], rows[: len(missed)]
    assert [run.status for run in started] == [RunStatus.READY] * runs
    for run, (count, reason) in zip(over, missed, strict=True):
        assert (run.status, run.instants) == (RunStatus.MISSED, count)
        assert run.reason.startswith(reason)
        assert run.scheduled_until - run.scheduled_for == (run.instants - 1) * MINUTE
    # SQLite splits an insert of a hundred rows.
    assert statements <= one + (5 if connection.vendor == "sqlite" else 0)


def test_fifty_jobs_take_as_many_statements_as_one() -> None:
    one = statements_of_one_instant()
    for number in range(50):
        make_due_job(catch_up=("latest", "all", "none")[number % 3], overlap=("skip", "queue")[number % 2])

    with CaptureQueriesContext(connection) as queries:
        planned = plan_jobs()

    assert (planned.jobs, planned.runs, planned.more) == (50, 50, False)
    # SQLite splits an insert of fifty rows.
    assert len(queries) <= one + (5 if connection.vendor == "sqlite" else 0)


def test_what_is_caught_up_runs_oldest_first_and_one_at_a_time() -> None:
    make_task()
    planned_week(catch_up="all")
    instants = list(
        Run.objects.filter(status="READY").order_by("scheduled_for").values_list("scheduled_for", flat=True)
    )

    claims = claim(limit=500)

    assert [run.scheduled_for for run in claims.runs] == instants[:1]
    assert instants == [instants[0] + number * MINUTE for number in range(100)]


def test_the_plans_after_an_outage_make_nothing_more() -> None:
    rows, _ = planned_week(catch_up="all")

    again = plan_jobs()

    assert (again.jobs, Run.objects.count()) == (0, len(rows))


@pytest.mark.parametrize("schedule", ["* * * * *", "@every 10m"])
def test_instants_are_counted_from_the_last_one_however_late_the_plan_is(schedule) -> None:
    """S39: no drift."""
    instant = this_minute() - this_minute().minute % 10 * MINUTE
    job = minutely(schedule=schedule)

    run = come_due(job, instant)
    Job.objects.filter(pk=job.pk).update(next_run_at=instant, ends_at=None)
    run.delete()
    plan_all()

    last = Run.objects.filter(job=job).order_by("scheduled_for").last()
    job.refresh_from_db()
    step = MINUTE if schedule == "* * * * *" else 10 * MINUTE
    assert job.next_run_at == last.scheduled_for + step > now()
    assert job.planned_until == last.scheduled_for


@pytest.mark.parametrize("in_code", [True, False])
def test_an_excluded_stretch_is_skipped_under_the_name_of_its_calendar(in_code) -> None:
    instant = this_minute()
    window = (instant - 40 * MINUTE, instant - 20 * MINUTE)
    if in_code:
        registry.add_calendar(Calendar("freeze", windows=[window]))
    else:
        CalendarRow.objects.create(name="freeze", definition={"windows": [[text.isoformat() for text in window]]})
    job = make_due_job(ago=60 * MINUTE, exclude=["freeze"])

    plan_all()

    (before, *freeze), after, run = told(job)[0], told(job)[2], told(job)[3]
    assert before == "MISSED"
    assert told(job)[1] == ("SKIPPED", 20, "excluded by the calendar 'freeze'")
    assert (freeze[0], after[0], run[0]) == (20, "MISSED", "READY")


def test_the_calendar_of_the_code_goes_before_one_of_the_admin() -> None:
    registry.add_calendar(Calendar("days off"))
    CalendarRow.objects.create(name="days off", definition={"daily": ["00:00-12:00", "12:00-00:00"]})
    job = make_due_job(exclude=["days off"])

    plan_all()

    assert told(job)[-1] == ("READY", 1, "")


def test_a_spread_delays_the_start_and_the_deadline_but_not_the_instant() -> None:
    make_task()
    job = minutely(name="spread out", spread=24 * HOUR, start_deadline=HOUR)
    instant = this_minute()

    run = come_due(job, instant)

    delay = offset("spread out", 24 * HOUR)
    assert delay > 2 * MINUTE
    assert (run.scheduled_for, run.available_at, run.start_before) == (instant, instant + delay, instant + delay + HOUR)
    assert claim().runs == ()


def test_two_instants_within_a_poll_are_weighed_one_after_the_other() -> None:
    """Without a catch-up, the second of two instants that come together finds the first one waiting."""
    job = make_job(
        schedule="@every 1s", catch_up="none", next_run_at=now().replace(microsecond=0) - timedelta(seconds=3)
    )

    plan_all()

    assert told(job)[0] == ("READY", 1, "")
    assert set(told(job)[1:]) == {("SKIPPED", 1, "the previous run was still waiting to start")}


def test_a_clock_that_was_set_back_runs_nothing_again() -> None:
    """S11: the instants up to planned_until have their rows, whatever the clock says now."""
    job = minutely(next_run_at=this_minute() + 2 * HOUR, planned_until=this_minute() + 2 * HOUR - MINUTE)

    assert plan_jobs().jobs == 0

    pause_job(job.pk, by="anna", reason="")
    resume_job(job.pk, catch_up=True)
    job.refresh_from_db()
    assert job.next_run_at == this_minute() + 2 * HOUR
    assert plan_jobs().jobs == 0


def test_an_instant_that_has_a_row_already_is_left_out_wherever_it_lies() -> None:
    """I2: exactly one row. A backfill may reach into a pause that is caught up later."""
    instant = this_minute()
    job = minutely(overlap="allow")
    pause_job(job.pk, by="anna", reason="")
    Job.objects.filter(pk=job.pk).update(paused_at=instant - 30 * MINUTE - MINUTE / 2)
    backfill_job(job.name, start=instant - 20 * MINUTE, end=instant - 11 * MINUTE)

    resume_job(job.pk, catch_up=True)
    plan_all()

    rows = told(job)
    job.refresh_from_db()
    assert sum(count for _, count, _ in rows) == (job.next_run_at - instant) // MINUTE + 30
    assert [status for status, _, _ in rows] == ["MISSED", *["READY"] * 11]
    assert rows[0][1] + 11 == sum(count for _, count, _ in rows)


def test_a_job_whose_due_instants_all_have_rows_only_moves_on() -> None:
    instant = this_minute()
    job = minutely()
    come_due(job, instant - MINUTE)
    come_due(job, instant)
    Job.objects.filter(pk=job.pk).update(next_run_at=instant - MINUTE, ends_at=instant)

    assert plan_jobs().runs == 0

    job.refresh_from_db()
    assert (job.next_run_at, Run.objects.count()) == (None, 2)


@pytest.mark.parametrize(("cursor", "now_due"), [(-60, False), (-45, False), (60, True), (30, True)])
def test_an_update_of_the_zone_database_doubles_and_loses_nothing(cursor, now_due) -> None:
    """The cursor was reckoned by the old rules; by today's the instant is later, or was earlier."""
    instant = this_minute() - (61 if now_due else -31) * MINUTE
    local = instant.astimezone(ZoneInfo("Asia/Kolkata"))
    job = make_job(
        schedule=f"{local.minute} {local.hour} * * *",
        timezone="Asia/Kolkata",
        next_run_at=instant + cursor * MINUTE,
        planned_until=instant - timedelta(days=1),
    )

    plan_all()

    job.refresh_from_db()
    assert [run.scheduled_for for run in Run.objects.all()] == ([instant] if now_due else [])
    assert job.next_run_at == (instant + timedelta(days=1) if now_due else instant)
