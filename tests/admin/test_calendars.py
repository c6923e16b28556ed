from __future__ import annotations

from typing import Any

import pytest

from django_leasejobs.models import Calendar
from django_leasejobs.policies.calendars import Calendar as Rules
from django_leasejobs.registry import registry
from tests.admin.support import admin_client, errors_of, logged_in, page, viewer
from tests.support.factories import make_job

pytestmark = pytest.mark.django_db


def calendar_form(**over: Any) -> dict[str, Any]:
    empty = dict.fromkeys(("days", "yearly", "windows", "daily"), "")
    return {"name": "holidays", "timezone": "Europe/Berlin", "weekdays": "sat\r\nsun\r\n", **empty, **over}


def test_a_calendar_is_defined_in_parts_and_can_be_read_by_the_engine() -> None:
    client = admin_client()

    client.post(page("calendar", "add"), calendar_form(daily="22:00-06:00"))

    row = Calendar.objects.get()
    assert row.definition == {"timezone": "Europe/Berlin", "weekdays": ["sat", "sun"], "daily": ["22:00-06:00"]}
    assert Rules.from_dict({**row.definition, "name": row.name}).weekdays == ("sat", "sun")
    assert "sat\nsun" in client.get(page("calendar", "change", row.pk)).content.decode()


@pytest.mark.parametrize(
    ("over", "field", "reason"),
    [
        ({"name": ""}, "name", "required"),
        ({"timezone": "Mars/Base"}, "timezone", "not a known time zone"),
        ({"days": "2026-02-30"}, "days", "2026-02-30"),
        ({"weekdays": "6"}, "weekdays", "weekday"),
        ({"yearly": "25.12."}, "yearly", "12-25"),
        ({"windows": "2026-12-20T18:00"}, "windows", "a start and an end"),
        ({"daily": "22-6"}, "daily", "22:00"),
        ({"weekdays": ""}, "__all__", "at least one"),
    ],
)
def test_what_no_calendar_can_be_is_refused_at_its_field(over: Any, field: str, reason: str) -> None:
    errors = errors_of(admin_client().post(page("calendar", "add"), calendar_form(**over)))

    assert list(errors) == [field]
    assert reason in errors[field][0]
    assert not Calendar.objects.exists()


def test_a_name_that_is_taken_by_a_row_or_by_code_is_refused() -> None:
    Calendar.objects.create(name="holidays", definition={})
    registry.add_calendar(Rules(name="of code", weekdays=["sun"]))
    client = admin_client()

    taken = errors_of(client.post(page("calendar", "add"), calendar_form()))
    of_code = errors_of(client.post(page("calendar", "add"), calendar_form(name="of code")))

    assert taken == {"name": ["Calendar with this Name already exists."]}
    assert of_code == {"name": ["Code defines a calendar of this name."]}


def test_a_calendar_that_jobs_exclude_is_neither_renamed_nor_deleted() -> None:
    row = Calendar.objects.create(name="holidays", definition={"weekdays": ["sun"]})
    make_job(name="report", exclude=["holidays"])
    client = admin_client()

    renamed = errors_of(client.post(page("calendar", "change", row.pk), calendar_form(name="days off")))
    refused = client.post(page("calendar", "delete", row.pk), {"post": "yes"})
    chosen = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    client.post(page("calendar"), chosen)

    assert renamed == {"name": ["It can't be renamed while jobs exclude it: report."]}
    assert "job report, which excludes holidays" in refused.content.decode()
    assert Calendar.objects.get().name == "holidays"


def test_a_calendar_that_no_job_excludes_can_be_deleted() -> None:
    one, two = (Calendar.objects.create(name=name, definition={}) for name in ("one", "two"))
    client = admin_client()

    client.post(page("calendar", "delete", one.pk), {"post": "yes"})
    client.post(page("calendar"), {"action": "delete_selected", "_selected_action": [two.pk], "post": "yes"})

    assert not Calendar.objects.exists()


def test_who_may_only_see_reads_the_definition() -> None:
    row = Calendar.objects.create(name="holidays", definition={"weekdays": ["sun"]})

    text = logged_in(viewer()).get(page("calendar", "change", row.pk)).content.decode()

    assert "&quot;weekdays&quot;" in text
    assert 'name="_save"' not in text
