from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import override_settings

from django_leasejobs.engine.sync import sync_jobs
from django_leasejobs.models import Calendar, Job, Run, Source
from django_leasejobs.registry import registry
from django_leasejobs.schedules import zone
from tests.admin.support import ESCAPED, MARKUP, admin_client, entries, errors_of, job_form, logged_in, page, viewer
from tests.support.factories import make_job, make_task, now

pytestmark = pytest.mark.django_db


def needs_warehouse(warehouse: str, limit: int = 10) -> None:
    """Count what lies in a warehouse."""


def marked_up() -> None:
    """Read ``stock.csv`` as :func:`~shop.read` does, see `the docs`_."""


@pytest.fixture(autouse=True)
def _tasks() -> None:
    make_task()
    make_task("tests.warehouse", needs_warehouse)


def add(**over: Any) -> Any:
    return admin_client().post(page("job", "add"), job_form(**over))


def test_a_job_is_defined_and_gets_its_next_instant() -> None:
    response = add(
        task="tests.warehouse", kwargs='{"warehouse": "main"}', timeout="15m", lease="90", start_deadline="1h30m"
    )

    job = Job.objects.get()
    assert response.status_code == 302
    assert (job.name, job.source, job.kwargs) == ("report", Source.ADMIN, {"warehouse": "main"})
    assert (job.timeout, job.lease) == (timedelta(minutes=15), timedelta(seconds=90))
    assert job.start_deadline == timedelta(minutes=90)
    assert job.next_run_at is not None
    assert job.next_run_at > now()
    assert [user for user, _ in entries()] == ["root"]


@pytest.mark.parametrize(
    ("over", "field", "reason"),
    [
        ({"name": ""}, "name", "required"),
        ({"task": "os.system"}, "task", "not one of the available choices"),
        ({"task": ""}, "task", "required"),
        ({"schedule": "61 * * * *"}, "schedule", "61"),
        ({"schedule": "0 0 31 2 *"}, "schedule", "never"),
        ({"schedule": "* * * * * *"}, "schedule", "six fields"),
        ({"schedule": "@at 2020-01-01T00:00"}, "schedule", "in the past"),
        ({"timezone": "Europe/Berlyn"}, "timezone", "Europe/Berlin"),
        ({"timezone": "../UTC"}, "timezone", "not a known time zone"),
        ({"args": "["}, "args", "valid JSON"),
        ({"args": "{}"}, "args", "list"),
        ({"kwargs": "[]"}, "kwargs", "dict"),
        ({"args": "[1e400]"}, "args", "JSON"),
        ({"args": "9" * 5000}, "args", "can't be read"),
        ({"args": "[" * 100_000}, "args", "can't be read"),
        ({"args": '["\\u0000"]'}, "args", "NUL"),
        ({"args": '["\\ud800"]'}, "args", "surrogates not allowed"),
        ({"task": "tests.warehouse"}, "kwargs", "warehouse"),
        ({"task": "tests.warehouse", "kwargs": '{"warehouse": 1, "depth": 2}'}, "kwargs", "depth"),
        ({"task": "tests.warehouse", "args": "[1, 2, 3]"}, "args", "too many"),
        ({"spread": "soon"}, "spread", "not a length of time"),
        ({"spread": ""}, "spread", "required"),
        ({"spread": "2d"}, "spread", "not shorter than"),
        ({"backoff": "-5s"}, "backoff", "negative"),
        ({"lease": "0s"}, "lease", "At least 1s"),
        ({"lease": "5 minutes"}, "lease", "not a length of time"),
        ({"timeout": "0"}, "timeout", "At least"),
        ({"start_deadline": "1ms"}, "start_deadline", "At least 1s"),
        ({"pause_after_failures": "0"}, "pause_after_failures", "greater than or equal to 1"),
        ({"priority": "101"}, "priority", "less than or equal to 100"),
        ({"retries": "-1"}, "retries", "greater than or equal to 0"),
        ({"exclude": ["nowhere"]}, "exclude", "nowhere"),
        ({"overlap": "sometimes"}, "overlap", "not one of the available choices"),
        ({"schedule": "", "start_deadline": "1h"}, "start_deadline", "needs a schedule"),
        ({"schedule": "", "ends_at_0": "2030-01-01", "ends_at_1": "00:00"}, "ends_at", "needs a schedule"),
        (
            {"starts_at_0": "2030-01-02", "starts_at_1": "00:00", "ends_at_0": "2030-01-01", "ends_at_1": "00:00"},
            "ends_at",
            "not after starts_at",
        ),
        ({"ends_at_0": "2020-01-01", "ends_at_1": "00:00"}, "ends_at", "no instant"),
        (
            {"schedule": "@at 2030-01-01T00:00", "starts_at_0": "2031-01-01", "starts_at_1": "00:00"},
            "starts_at",
            "no instant",
        ),
    ],
)
def test_what_a_worker_would_stumble_over_is_refused_at_its_field(over: Any, field: str, reason: str) -> None:
    errors = errors_of(add(**over))

    assert list(errors) == [field]
    assert reason in " ".join(errors[field])
    assert not Job.objects.exists()


def test_no_dotted_path_can_be_entered_in_place_of_a_task() -> None:
    shown = admin_client().get(page("job", "add")).content.decode()

    assert '<select name="task"' in shown
    assert "tests.warehouse(warehouse, limit=10): Count what lies in a warehouse." in shown
    assert 'value="os.system"' not in shown


def test_a_name_that_another_job_or_code_has_is_refused() -> None:
    make_job(name="report")

    assert "already exists" in errors_of(add())["name"][0]
    assert (
        "Code defines a job"
        in errors_of(logged_in_root().post(page("job", "add"), job_form(name=code_name())))["name"][0]
    )


def code_name() -> str:
    return next(iter(registry.jobs))


def logged_in_root() -> Any:
    from django.contrib.auth.models import User

    return logged_in(User.objects.get(username="root"))


def test_an_unknown_task_of_a_stored_job_is_shown_and_kept() -> None:
    job = make_job(task="gone.task")
    client = admin_client()

    shown = client.get(page("job", "change", job.pk)).content.decode()
    response = client.post(page("job", "change", job.pk), job_form(name=job.name, task="gone.task", description="kept"))

    assert "gone.task (no code registers it)" in shown
    assert "its arguments can&#x27;t be checked" in shown
    assert response.status_code == 302
    job.refresh_from_db()
    assert (job.task, job.description) == ("gone.task", "kept")


def test_markup_in_the_name_of_a_stored_task_is_escaped() -> None:
    job = make_job(task=MARKUP)

    shown = admin_client().get(page("job", "change", job.pk)).content.decode()

    assert ESCAPED in shown
    assert MARKUP not in shown


def test_a_task_that_no_code_registers_is_offered_only_to_the_job_that_has_it() -> None:
    other = make_job()

    errors = errors_of(
        admin_client().post(page("job", "change", other.pk), job_form(name=other.name, task="gone.task"))
    )

    assert list(errors) == ["task"]


def test_only_management_commands_of_the_settings_can_be_scheduled() -> None:
    client = admin_client()

    with override_settings(LEASEJOBS={"COMMANDS": ["clearsessions"]}):
        refused = client.post(page("job", "add"), job_form(task="manage.py flush"))
        allowed = client.post(page("job", "add"), job_form(task="manage.py clearsessions", kwargs='{"verbosity": 0}'))

    assert "not one of the available choices" in errors_of(refused)["task"][0]
    assert allowed.status_code == 302


@pytest.mark.parametrize(
    ("over", "field", "reason"),
    [
        ({"args": '["--dayz", 7]'}, "args", "unrecognized arguments: --dayz."),
        ({"args": '["--days", "many"]'}, "args", "argument --days: invalid int value: 'many'."),
        ({"args": '["--help"]'}, "args", "they only print a help text"),
        ({"kwargs": '{"dayz": 3}'}, "kwargs", "Unknown option(s) for send_digest command: dayz."),
        ({"kwargs": '{"stdout": 3}'}, "kwargs", "multiple values for keyword argument 'stdout'"),
        ({"task": "manage.py restock"}, "args", "the following arguments are required: warehouse, --level."),
        ({"task": "manage.py restock", "kwargs": '{"warehouse": "main"}'}, "kwargs", "goes into the list of arguments"),
        ({"task": "manage.py needs_a_package"}, "args", "can't be loaded: ModuleNotFoundError: No module named"),
    ],
)
def test_arguments_that_a_command_would_refuse_are_refused_at_their_field(
    over: dict[str, Any], field: str, reason: str
) -> None:
    with override_settings(LEASEJOBS={"COMMANDS": ["send_digest", "restock", "needs_a_package"]}):
        errors = errors_of(add(**{"task": "manage.py send_digest", **over}))

    assert list(errors) == [field]
    assert reason in errors[field][0]


def test_the_choices_of_tasks_are_plain_text() -> None:
    make_task("tests.marked_up", marked_up)

    shown = admin_client().get(page("job", "add")).content.decode()

    assert "tests.marked_up(): Read stock.csv as shop.read does, see the docs." in shown


def test_an_old_job_whose_time_has_passed_can_still_be_described() -> None:
    job = make_job(schedule="@at 2020-01-01T00:00", timezone="UTC")

    response = admin_client().post(
        page("job", "change", job.pk),
        job_form(name=job.name, schedule=job.schedule, timezone="UTC", description="The move"),
    )

    assert response.status_code == 302
    job.refresh_from_db()
    assert job.description == "The move"


def test_a_preview_shows_the_next_instants_and_saves_nothing() -> None:
    response = add(_preview="Preview", schedule="30 2 * * 1-5")

    shown = response.content.decode()
    assert response.context["preview"].words == "at 02:30 on weekdays"
    assert len(response.context["preview"].instants) == 5
    assert "02:30:00+01:00" in shown or "02:30:00+02:00" in shown
    assert 'value="30 2 * * 1-5"' in shown
    assert "correct the error" not in shown
    assert not Job.objects.exists()


def test_after_an_error_elsewhere_the_preview_is_shown_and_after_one_of_the_schedule_it_is_not() -> None:
    client = admin_client()

    elsewhere = client.post(page("job", "add"), job_form(timeout="soon"))
    there = client.post(page("job", "add"), job_form(schedule="61 * * * *"))

    assert len(elsewhere.context["preview"].instants) == 5
    assert there.context["preview"] is None


def test_the_preview_names_clock_changes_and_leaves_excluded_days_out() -> None:
    Calendar.objects.create(name="weekends", definition={"weekdays": ["sat", "sun"]})
    job = make_job(schedule="0 12 * * *", exclude=["weekends"])

    preview = admin_client().get(page("job", "change", job.pk)).context["preview"]

    assert len(preview.instants) == 5
    assert not any(instant.local.startswith(("Sat", "Sun")) for instant in preview.instants)
    assert preview.left_out in (0, 1, 2)


def test_an_edit_moves_the_next_instant_and_a_new_description_does_not() -> None:
    client = admin_client()
    client.post(page("job", "add"), job_form())
    job = Job.objects.get()
    before = job.next_run_at

    client.post(page("job", "change", job.pk), job_form(description="New words"))
    job.refresh_from_db()
    assert job.next_run_at == before

    client.post(page("job", "change", job.pk), job_form(schedule="0 4 * * *"))
    job.refresh_from_db()
    assert job.next_run_at != before


def test_what_code_owns_is_read_only_and_says_where_it_comes_from() -> None:
    sync_jobs(registry.jobs.values())
    job = Job.objects.filter(source=Source.CODE).exclude(schedule="").first()
    assert job is not None
    client = admin_client()

    shown = client.get(page("job", "change", job.pk)).content.decode()
    client.post(page("job", "change", job.pk), job_form(name="renamed", schedule="* * * * *"))

    assert registry.tasks[job.task].where in shown
    assert 'name="schedule"' not in shown
    assert 'name="enabled"' in shown
    stored = Job.objects.get(pk=job.pk)
    assert (stored.name, stored.schedule) == (job.name, job.schedule)


def test_a_code_defined_job_can_be_switched_off_and_on() -> None:
    sync_jobs(registry.jobs.values())
    job = Job.objects.filter(source=Source.CODE).exclude(schedule="").first()
    assert job is not None
    client = admin_client()

    client.post(page("job", "change", job.pk), {})
    off = Job.objects.get(pk=job.pk)
    client.post(page("job", "change", job.pk), {"enabled": "on"})
    on = Job.objects.get(pk=job.pk)

    assert (off.enabled, off.next_run_at) == (False, None)
    assert on.enabled
    assert on.next_run_at is not None


def test_a_code_defined_job_cannot_be_deleted_and_a_retired_one_can() -> None:
    client = admin_client()
    kept, retired = make_job(source=Source.CODE), make_job(source=Source.CODE, retired_at=now())

    shown = client.get(page("job", "change", kept.pk)).content.decode()
    refused = client.post(page("job", "delete", kept.pk), {"post": "yes"})
    chosen = {"action": "delete_selected", "_selected_action": [kept.pk, retired.pk], "post": "yes"}
    in_bulk = client.post(page("job"), chosen)
    client.post(page("job", "delete", retired.pk), {"post": "yes"})

    assert "would make it again" in shown
    assert refused.status_code == 403
    assert "code defines it" in in_bulk.content.decode()
    assert list(Job.objects.all()) == [kept]


def test_a_deleted_job_cancels_what_waits_and_keeps_its_history() -> None:
    """S49"""
    job = make_job(name="gone")
    client = admin_client()
    client.post(page("job", "trigger", job.pk), {"args": "[]", "kwargs": "{}"})

    shown = client.get(page("job", "delete", job.pk)).content.decode()
    client.post(page("job"), {"action": "delete_selected", "_selected_action": [job.pk], "post": "yes"})

    run = Run.objects.get()
    assert "1 unfinished run is cancelled." in shown
    assert not Job.objects.exists()
    assert (run.job_id, run.job_name, run.status) == (None, "gone", "CANCELLED")
    assert run.reason == "the job was deleted by root"


def test_whoever_may_only_see_can_not_post_the_form() -> None:
    job = make_job()
    client = logged_in(viewer())

    shown = client.get(page("job", "change", job.pk))
    refused = [client.post(page("job", "change", job.pk), job_form()), client.post(page("job", "add"), job_form())]

    assert shown.status_code == 200
    assert b'name="_save"' not in shown.content
    assert b'name="_preview"' not in shown.content
    assert [response.status_code for response in refused] == [403, 403]
    assert list(Job.objects.values_list("name", flat=True)) == [job.name]


@pytest.mark.parametrize("model", ["job", "calendar"])
def test_only_zones_that_are_accepted_are_offered(model: str) -> None:
    shown = admin_client().get(page(model, "add")).content.decode()

    offered = re.findall(r'<option value="([^"]+)"></option>', shown)
    assert len(offered) > 400
    for name in offered:
        zone(name)
