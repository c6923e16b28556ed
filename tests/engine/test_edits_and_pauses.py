"""Jobs are edited, switched, paused and resumed at any time: nothing is doubled, lost or replayed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from django_leasejobs.engine.edit import save_job, set_enabled
from django_leasejobs.engine.outcomes import Raised, Succeeded
from django_leasejobs.engine.pause import pause_failing_jobs, pause_job, resume_job
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.sync import sync_jobs
from django_leasejobs.exceptions import JobDefinitionError
from django_leasejobs.models import Job, Run
from tests.engine.test_sync import defined
from tests.support.factories import NOOP, make_due_job, make_job, make_run, make_task, now
from tests.support.planning import MINUTE, minutely, plan_all, this_minute, told
from tests.support.rows import claimed, end

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("within_a_minute")]

HOUR = timedelta(hours=1)


def this_hour():
    return this_minute().replace(minute=0)


def saved(**values):
    """A job as a form makes it."""
    return save_job(Job(**{"name": "report", "task": NOOP, **values}))


def edit(job, **values):
    """Save a job as a form does that was opened now."""
    opened = Job.objects.get(pk=job.pk)
    for name, value in values.items():
        setattr(opened, name, value)
    save_job(opened)
    return Job.objects.get(pk=job.pk)


def switch_by_form(job, enabled):
    edit(job, enabled=enabled)


def switch_in_bulk(job, enabled):
    set_enabled([job.pk], enabled)


@pytest.mark.parametrize("switch", [switch_by_form, switch_in_bulk])
def test_switched_on_again_a_job_waits_for_its_next_instant(switch) -> None:
    """S37: the hours that it was off are not made up, whichever way it is switched."""
    before = this_hour() - 3 * HOUR
    job = make_job(schedule="0 * * * *", planned_until=before, next_run_at=this_hour() + HOUR)

    switch(job, False)
    off = Job.objects.get()
    switch(job, True)
    on = Job.objects.get()

    assert (off.enabled, off.next_run_at) == (False, None)
    assert (on.enabled, on.next_run_at, on.planned_until) == (True, this_hour() + HOUR, before)
    assert (plan_jobs().jobs, Run.objects.count()) == (0, 0)


def test_switching_what_is_switched_that_way_already_changes_nothing() -> None:
    job = make_due_job()

    assert set_enabled([job.pk], True) == 0
    assert Job.objects.get().next_run_at == job.next_run_at


def test_a_new_job_starts_with_the_first_instant_after_now() -> None:
    assert saved(schedule="0 * * * *").next_run_at == this_hour() + HOUR


def test_an_edit_that_does_not_say_when_leaves_the_next_instant_alone() -> None:
    job = make_due_job(ago=MINUTE)

    assert edit(job, retries=3, exclude=[], spread=HOUR).next_run_at == job.next_run_at


@pytest.mark.parametrize("change", [{"schedule": "*/2 * * * *"}, {"timezone": "Asia/Kathmandu"}, {"starts_at": now}])
def test_an_edit_of_when_counts_from_now_and_doubles_nothing(change) -> None:
    job = make_due_job()
    plan_jobs()
    ran = Run.objects.get().scheduled_for
    change = {name: value() if callable(value) else value for name, value in change.items()}

    edited = edit(job, **change)

    assert ran < edited.next_run_at
    assert now() < edited.next_run_at <= now() + 2 * MINUTE
    assert (plan_jobs().jobs, Run.objects.count()) == (0, 1)


def test_what_was_due_before_an_edit_gets_its_row_and_is_not_replayed() -> None:
    """I2: workers were down for an hour, and the schedule is edited before they are back."""
    job = make_due_job(ago=60 * MINUTE)

    edited = edit(job, schedule="0 0 1 1 *")
    plan_all()

    missed, run = told(job)
    assert missed == ("MISSED", 60, "more than 1m late, not caught up")
    assert run == ("READY", 1, "")
    assert edited.planned_until == Run.objects.latest("scheduled_for").scheduled_for
    assert edited.next_run_at.month == 1


@pytest.mark.parametrize(
    "act",
    [
        lambda job: switch_in_bulk(job, False),
        lambda job: switch_by_form(job, False),
        lambda job: pause_job(job.pk, by="anna", reason=""),
        lambda job: sync_jobs([defined("report", schedule="0 0 1 1 *")]),
    ],
)
def test_what_was_due_before_a_job_stops_gets_its_row(act) -> None:
    job = make_due_job(name="report", source="code", ago=10 * MINUTE)

    act(job)

    assert [(status, count) for status, count, _ in told(job)] == [("MISSED", 10), ("READY", 1)]
    assert Job.objects.get().planned_until == Run.objects.latest("scheduled_for").scheduled_for


def test_what_was_due_before_a_job_left_the_code_is_missed() -> None:
    job = make_due_job(name="report", source="code", ago=10 * MINUTE)

    sync_jobs([])

    assert [(status, count) for status, count, _ in told(job)] == [("MISSED", 11)]
    (row,) = Run.objects.all()
    assert Job.objects.get().planned_until == row.scheduled_until


def test_a_sync_that_only_looks_records_nothing() -> None:
    make_due_job(name="report", source="code")

    sync_jobs([], dry_run=True)
    sync_jobs([defined("report", schedule="0 0 1 1 *")], dry_run=True)

    assert not Run.objects.exists()


def test_a_stale_form_brings_nothing_back_that_the_engine_decided_meanwhile() -> None:
    job = make_due_job()
    opened = Job.objects.get()
    pause_job(job.pk, by="anna", reason="the disk is full")

    opened.description = "edited"
    save_job(opened)

    stored = Job.objects.get()
    assert (stored.description, stored.paused_by, stored.pause_reason) == ("edited", "anna", "the disk is full")
    assert (stored.paused_at is not None, stored.next_run_at) == (True, None)


def test_another_name_is_another_hash() -> None:
    job = saved(name="nightly", schedule="H H * * *")

    renamed = edit(job, name="nightly report")

    assert renamed.next_run_at.time() != job.next_run_at.time()


def test_a_second_job_of_a_name_is_refused() -> None:
    """S45."""
    saved(schedule="* * * * *")

    with pytest.raises(JobDefinitionError, match="There is a job named 'report' already; give this one another name"):
        saved(schedule="0 0 * * *")
    assert Job.objects.get().schedule == "* * * * *"


def test_a_job_begins_at_starts_at_and_ends_at_ends_at() -> None:
    start = this_minute() + 2 * MINUTE

    job = saved(schedule="* * * * *", starts_at=start, ends_at=start + MINUTE)

    assert job.next_run_at == start
    begin = this_minute() - 5 * MINUTE
    Job.objects.update(next_run_at=begin, starts_at=begin, ends_at=begin + 2 * MINUTE, catch_up="all")
    plan_all()
    assert [status for status, _, _ in told(job)] == ["READY"] * 3
    assert Job.objects.get().next_run_at is None


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"schedule": "@at 2020-02-03T04:05:00+00:00"}, "it will never run, as no instant is to come: once, on 2020-"),
        ({"schedule": "0 2 * * *", "ends_at": datetime(2020, 1, 1, tzinfo=UTC)}, "at 02:00 every day, UTC, up to 2020"),
    ],
)
def test_a_new_job_that_will_never_run_says_so(values, words) -> None:
    job = saved(**values)

    assert job.next_run_at is None
    assert words in job.schedule_error


def test_a_job_that_has_run_for_the_last_time_is_no_fault() -> None:
    job = saved(schedule="0 2 * * *", planned_until=now() - HOUR, ends_at=now() - MINUTE)

    assert (job.next_run_at, job.schedule_error) == (None, "")


def test_a_restart_does_not_begin_the_schedule_anew() -> None:
    """S35: the table holds the next instant, so restarts more frequent than the schedule do no harm."""
    job = make_job(name="report", source="code", schedule="0 0 * * 0", task="report")
    Job.objects.update(next_run_at=this_minute() - MINUTE)
    definition = defined("report", schedule="0 0 * * 0")

    for _ in range(5):
        sync_jobs([definition])

    assert Job.objects.get().next_run_at == this_minute() - MINUTE
    plan_jobs()
    assert told(job) == [("READY", 1, "")]


def paused_for(span):
    job = make_due_job()
    plan_all()
    pause_job(job.pk, by="anna", reason="moving the database")
    Job.objects.update(paused_at=now() - span, planned_until=this_minute() - span)
    Run.objects.all().delete()
    return Job.objects.get()


def test_a_pause_keeps_who_when_and_why() -> None:
    before = now()
    job = make_due_job()

    assert pause_job(job.pk, by="anna", reason="moving the database")
    assert not pause_job(job.pk, by="bob", reason="again")

    paused = Job.objects.get()
    assert (paused.paused_by, paused.pause_reason, paused.next_run_at) == ("anna", "moving the database", None)
    assert before <= paused.paused_at <= now()


def test_time_paused_is_not_missed() -> None:
    job = paused_for(2 * HOUR)

    assert resume_job(job.pk)
    assert not resume_job(job.pk)

    resumed = Job.objects.get()
    assert (resumed.paused_at, resumed.paused_by, resumed.pause_reason) == (None, "", "")
    assert now() < resumed.next_run_at <= now() + MINUTE
    assert (plan_jobs().jobs, Run.objects.count()) == (0, 0)


def test_a_resume_that_catches_up_treats_the_pause_as_missed_time() -> None:
    job = paused_for(2 * HOUR)

    resume_job(job.pk, catch_up=True)
    plan_all()

    missed, run = told(job)
    assert missed[:2] in (("MISSED", 119), ("MISSED", 120), ("MISSED", 121))
    assert run == ("READY", 1, "")


def test_a_resume_that_catches_up_after_an_edit_counts_from_the_edit() -> None:
    job = paused_for(2 * HOUR)

    edit(job, schedule="*/2 * * * *")
    resume_job(job.pk, catch_up=True)

    assert now() < Job.objects.get().next_run_at <= now() + 2 * MINUTE
    assert (plan_jobs().jobs, Run.objects.count()) == (0, 0)


def run_and(ending, job):
    make_task()
    end(claimed(make_run(job)), ending)


def test_a_job_pauses_itself_after_so_many_failed_runs_in_a_row() -> None:
    job = minutely(pause_after_failures=2, next_run_at=this_minute() + MINUTE)
    pauses = []
    for ending in (Raised("no"), Succeeded(), Raised("no"), Raised("no")):
        run_and(ending, job)
        pauses.append(pause_failing_jobs([job.pk]))

    paused = Job.objects.get()
    assert pauses == [{}, {}, {}, {job.name: "2 runs in a row failed"}]
    assert (paused.pause_reason, paused.paused_by, paused.next_run_at) == ("2 runs in a row failed", "", None)
    assert pause_failing_jobs([job.pk]) == {}
