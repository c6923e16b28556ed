"""S43: rows written past the forms are marked, once, and the rest goes on; what can be followed again is."""

from __future__ import annotations

import pytest

from django_leasejobs.engine.mend import mend_jobs
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.models import Calendar as CalendarRow
from django_leasejobs.models import Job, Run
from django_leasejobs.policies.calendars import Calendar
from django_leasejobs.registry import registry
from tests.support.factories import NOOP, claim, make_due_job, make_job, make_task, now
from tests.support.planning import MINUTE, minutely, plan_all, this_minute, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("within_a_minute")]

BAD = {
    "bad expression": ({"schedule": "61 * * * *"}, "minute: minute 61 is out of range 0-59"),
    "never": ({"schedule": "0 0 31 2 *"}, "schedule: '0 0 31 2 *' never fires"),
    "no text": ({"schedule": "\u0661 * * * *"}, "is not plain ASCII"),
    "misspelt zone": ({"timezone": "Europe/Berln"}, "did you mean 'Europe/Berlin'?"),
    "group of zones": ({"timezone": "America"}, "timezone: 'America' is a group of time zones, not one"),
    "path": ({"timezone": "../UTC"}, "timezone: "),
    "unknown calendar": ({"exclude": ["holydays"]}, "exclude: there is no calendar named 'holydays'"),
    "number for a list": ({"exclude": 5}, "exclude: a list of calendar names is needed, not 5"),
    "text for a list": ({"exclude": "freeze"}, "exclude: a list of calendar names is needed, not 'freeze'"),
    "objects for names": ({"exclude": [{"a": 1}, []]}, "exclude: there is no calendar named {'a': 1}"),
    "unreadable calendar": ({"exclude": ["torn"]}, "Calendar 'torn': unknown key 'dayz'; did you mean 'days'?"),
    "calendar that is none": ({"exclude": ["list"]}, "exclude: the calendar 'list' can't be read: "),
}
ODD = {
    "args that are no list": {"args": {"a": 1}},
    "kwargs that are no dict": {"kwargs": [1]},
    "unknown function": {"task": "shop.jobs.gone"},
    "an import that raises": {"task": "nowhere.at.all"},
}


def test_broken_rows_are_marked_once_and_the_good_ones_run_on_time() -> None:
    CalendarRow.objects.create(name="torn", definition={"dayz": []})
    CalendarRow.objects.create(name="list", definition=[1])
    due = {"next_run_at": this_minute() - MINUTE, "task": NOOP}
    rows = [Job(name=name, **{"schedule": "* * * * *", **due, **values}) for name, (values, _) in BAD.items()]
    rows += [Job(name=name, **{"schedule": "* * * * *", **due, **values}) for name, values in ODD.items()]
    Job.objects.bulk_create(rows)
    good = [make_due_job(name="a good one"), make_due_job(name="z good one")]

    planned = plan_jobs()

    assert {name for name, _ in planned.broken} == set(BAD)
    for name, (_, words) in BAD.items():
        job = Job.objects.get(name=name)
        assert (job.next_run_at, words in job.schedule_error) == (None, True), job.schedule_error
        assert told(job) == []
    assert [told(job) for job in good] == [[("READY", 1, "")]] * 2
    assert {run.job_name for run in Run.objects.filter(status="READY")} == {*ODD, "a good one", "z good one"}
    assert (plan_jobs().jobs, plan_jobs().broken) == (0, ())


def test_a_worker_leaves_the_runs_of_unknown_functions_and_takes_the_others() -> None:
    make_task()
    make_due_job(task="shop.jobs.gone", name="a")
    make_due_job(name="b")
    plan_jobs()

    assert [run.job_name for run in claim(limit=10).runs] == ["b"]


def broken(**values):
    job = make_due_job(ago=30 * MINUTE, **values)
    plan_jobs()
    return Job.objects.get(pk=job.pk)


def test_a_job_goes_on_where_it_stopped_when_its_calendar_is_there() -> None:
    """I2: what came while no worker could follow the schedule is treated as missed time is."""
    job = broken(exclude=["freeze"])
    assert mend_jobs() == ()

    registry.add_calendar(Calendar("freeze"))
    assert mend_jobs() == (job.name,)
    plan_all()

    missed, run = told(job)
    assert missed[:2] in (("MISSED", 30), ("MISSED", 31))
    assert run == ("READY", 1, "")
    assert Job.objects.get().schedule_error == ""
    assert mend_jobs() == ()


def test_a_job_is_not_touched_while_it_stays_broken() -> None:
    job = broken(timezone="Europe/Berln")

    assert mend_jobs() == ()

    assert list(Job.objects.values()) == list(Job.objects.filter(pk=job.pk).values())
    assert Job.objects.get().schedule_error == job.schedule_error


def test_a_row_written_past_this_package_is_taken_up_from_now_on() -> None:
    job = minutely()

    assert mend_jobs() == (job.name,)

    assert now() < Job.objects.get().next_run_at <= now() + MINUTE
    assert plan_jobs().jobs == 0


@pytest.mark.parametrize(
    "values",
    [
        {"schedule": ""},
        {"enabled": False},
        {"paused_at": now},
        {"retired_at": now},
        {"ends_at": now},
        {"schedule": "@at 2020-02-03T04:05:00Z", "planned_until": now},
        {"schedule": "@at 2020-02-03T04:05:00Z"},
    ],
)
def test_what_has_no_instant_to_come_is_left_alone(values) -> None:
    values = {name: value() if callable(value) else value for name, value in values.items()}
    make_job(**{"schedule": "* * * * *", **values})

    assert mend_jobs() == ()
    assert Job.objects.get().next_run_at is None


def test_an_edit_mends_a_broken_job_from_now_on() -> None:
    from django_leasejobs.engine.edit import save_job

    job = broken(schedule="61 * * * *")

    job.schedule = "* * * * *"
    save_job(job)

    assert now() < Job.objects.get().next_run_at <= now() + MINUTE
    assert (Job.objects.get().schedule_error, Run.objects.count()) == ("", 0)
