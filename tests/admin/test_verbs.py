from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from django_leasejobs.models import Attempt, Job, Lease, Run, RunStatus
from tests.admin.support import admin_client, entries, logged_in, page, person, running, said, viewer
from tests.support.factories import make_job, make_run, make_task, now

pytestmark = pytest.mark.django_db


def failed_run() -> Run:
    return make_run(make_job(), status=RunStatus.FAILED, finished_at=now(), failures=1)


MATRIX = [
    ("job", "trigger", "trigger_job", make_job, {"args": "[]", "kwargs": "{}"}),
    ("job", "pause", "pause_job", make_job, {"reason": "supplier down"}),
    ("job", "resume", "pause_job", lambda: make_job(paused_at=now(), paused_by="grace"), {}),
    ("run", "cancel", "cancel_run", lambda: make_run(make_job()), {"reason": "wrong day"}),
    ("run", "retry", "retry_run", failed_run, {"reason": "again"}),
    ("lease", "release", "release_lease", lambda: running(make_job()), {"reason": "host is gone"}),
]
verbs = pytest.mark.parametrize(
    ("model", "verb", "permission", "make", "answers"), MATRIX, ids=[row[1] for row in MATRIX]
)


def state() -> Any:
    """All that a verb may change."""
    return [list(table.objects.order_by("pk").values()) for table in (Job, Run, Lease, Attempt)]


@verbs
def test_only_the_permission_of_its_own_lets_a_verb_be_done(
    model: str, verb: str, permission: str, make: Any, answers: Any
) -> None:
    """S47"""
    row = make()
    others = {row[2] for row in MATRIX} - {permission}
    before = state()

    refused = logged_in(viewer(*others, "change_job")).post(page(model, verb, row.pk), answers)
    assert refused.status_code == 403
    assert (state(), entries()) == (before, [])

    allowed = logged_in(person(permission, name="grace")).post(page(model, verb, row.pk), answers)
    assert allowed.status_code == 302
    assert state() != before
    assert [user for user, _ in entries()] == ["grace"]


@verbs
def test_a_get_asks_and_does_nothing(model: str, verb: str, permission: str, make: Any, answers: Any) -> None:
    row = make()
    before = state()
    client = admin_client()

    shown = client.get(page(model, verb, row.pk), answers)

    assert shown.status_code == 200
    assert b"csrfmiddlewaretoken" in shown.content
    assert client.put(page(model, verb, row.pk)).status_code == 405
    assert (state(), entries()) == (before, [])


@verbs
def test_a_post_without_the_token_does_nothing(model: str, verb: str, permission: str, make: Any, answers: Any) -> None:
    row = make()
    before = state()
    client = Client(enforce_csrf_checks=True)
    client.force_login(person(permission))

    assert client.post(page(model, verb, row.pk), answers).status_code == 403
    assert (state(), entries()) == (before, [])


@verbs
def test_a_stranger_is_sent_to_the_login(model: str, verb: str, permission: str, make: Any, answers: Any) -> None:
    row = make()
    before = state()

    assert "/login/" in Client().post(page(model, verb, row.pk), answers)["Location"]
    assert state() == before


@verbs
def test_who_may_only_see_gets_no_button_and_no_action(
    model: str, verb: str, permission: str, make: Any, answers: Any
) -> None:
    row = make()
    before = state()
    client = logged_in(viewer())

    shown = client.get(page(model, "change", row.pk)).content.decode()
    listed = client.get(page(model)).content.decode()
    client.post(
        page(model), {"action": f"{verb}_selected", "_selected_action": [row.pk], "_confirmed": "yes", **answers}
    )

    assert "leasejobs-verb" not in shown
    assert 'name="action"' not in listed
    assert (state(), entries()) == (before, [])


@verbs
def test_a_row_that_is_gone_is_not_found(model: str, verb: str, permission: str, make: Any, answers: Any) -> None:
    client = admin_client()

    assert client.post(page(model, verb, 999_999), answers).status_code == 404
    assert client.post(page(model, verb, "x'y"), answers).status_code == 404


def test_a_trigger_makes_a_run_in_the_name_of_the_person() -> None:
    make_task()
    job = make_job(name="report", kwargs={"a": 1})

    response = logged_in(viewer("trigger_job")).post(
        page("job", "trigger", job.pk), {"args": "[]", "kwargs": '{"a": 2}'}, follow=True
    )

    run = Run.objects.get()
    assert (run.status, run.kwargs, run.triggered_by) == (RunStatus.READY, {"a": 2}, "ada")
    assert entries() == [("ada", f"Triggered run {run.pk} with args=[] kwargs={{'a': 2}}.")]
    assert f"Run {run.pk}</a>" in said(response)[0]
    assert "Triggered: report." in said(response)[0]


def test_a_trigger_that_overlap_forbids_says_so() -> None:
    job = make_job(name="report")
    running(job)

    response = admin_client().post(page("job", "trigger", job.pk), {"args": "[]", "kwargs": "{}"}, follow=True)

    skipped = Run.objects.latest("pk")
    assert skipped.status == RunStatus.SKIPPED
    assert "Skipped, the previous run was still running: report." in said(response)[0]
    assert "which was skipped" in entries()[0][1]


def test_a_retired_job_is_not_triggered_and_its_page_offers_none() -> None:
    job = make_job(name="old", retired_at=datetime(2026, 11, 1, tzinfo=UTC), enabled=False)
    client = admin_client()

    assert page("job", "trigger", job.pk) not in client.get(page("job", "change", job.pk)).content.decode()
    done = client.post(page("job", "trigger", job.pk), {"args": "[]", "kwargs": "{}"}, follow=True)

    assert said(done) == ["Not triggered, no code has defined it since 2026-11-01 00:00:00 UTC: old."]
    assert (Run.objects.count(), entries()) == (0, [])


def test_a_trigger_may_ignore_the_overlap_and_wait() -> None:
    job = make_job()
    running(job)

    admin_client().post(
        page("job", "trigger", job.pk),
        {"args": "", "kwargs": "", "ignore_overlap": "on", "run_after_0": "2099-01-01", "run_after_1": "06:00"},
    )

    run = Run.objects.latest("pk")
    assert (run.status, run.exclusive, run.available_at.year) == (RunStatus.READY, False, 2099)


def test_a_trigger_for_a_moment_that_has_passed_is_refused_at_its_field() -> None:
    job = make_job()
    answers = {"args": "[]", "kwargs": "{}", "run_after_0": "2026-01-01", "run_after_1": "00:00"}

    refused = admin_client().post(page("job", "trigger", job.pk), answers)

    assert "This moment has passed." in refused.context["form"].errors["run_after"][0]
    assert not Run.objects.exists()


def test_bad_arguments_of_a_trigger_are_refused_at_their_field() -> None:
    make_task("tests.one", one_parameter)
    job = make_job(task="tests.one", args=[1])
    client = admin_client()

    unreadable = client.post(page("job", "trigger", job.pk), {"args": "[", "kwargs": "{}"})
    unfit = client.post(page("job", "trigger", job.pk), {"args": "[1]", "kwargs": '{"two": 2}'})

    assert list(unreadable.context["form"].errors) == ["args"]
    assert list(unfit.context["form"].errors) == ["kwargs"]
    assert not Run.objects.exists()


def one_parameter(one: int) -> None:
    """Take one."""


def test_many_jobs_are_triggered_at_once_and_each_is_logged() -> None:
    jobs = [make_job(name=f"job {number:02}") for number in range(12)]
    chosen = {"action": "trigger_selected", "_selected_action": [job.pk for job in jobs]}

    response = admin_client().post(page("job"), chosen, follow=True)

    assert Run.objects.count() == 12
    assert len(entries()) == 12
    assert len(said(response)) == 1
    assert said(response)[0].endswith("job 09 and 2 more.")


def test_pausing_many_asks_why_first() -> None:
    jobs = [make_job(schedule="@hourly"), make_job(paused_at=now(), paused_by="grace", pause_reason="older")]
    chosen = {"action": "pause_selected", "_selected_action": [job.pk for job in jobs]}
    client = admin_client()

    asked = client.post(page("job"), chosen)
    before = Job.objects.get(pk=jobs[0].pk)
    done = client.post(page("job"), {**chosen, "_confirmed": "yes", "reason": "supplier down"}, follow=True)

    first, second = Job.objects.order_by("pk")
    assert asked.status_code == 200
    assert before.paused_at is None
    assert (first.paused_by, first.pause_reason, first.next_run_at) == ("root", "supplier down", None)
    assert second.pause_reason == "older"
    assert entries() == [("root", "Paused: supplier down")]
    assert sorted(said(done)) == sorted([f"Paused: {first}.", f"Nothing done, paused already: {second}."])


def test_a_resumed_job_goes_on_from_now_or_catches_up() -> None:
    earlier = now() - timedelta(hours=3)
    plain = make_job(schedule="@hourly", paused_at=earlier, planned_until=earlier)
    eager = make_job(schedule="@hourly", paused_at=earlier, planned_until=earlier)
    client = admin_client()

    client.post(page("job", "resume", plain.pk), {})
    client.post(page("job", "resume", eager.pk), {"catch_up": "on"})

    plain.refresh_from_db()
    eager.refresh_from_db()
    assert (plain.paused_at, eager.paused_at) == (None, None)
    assert plain.next_run_at is not None
    assert eager.next_run_at is not None
    assert plain.next_run_at > now() > eager.next_run_at


def test_the_page_of_a_paused_job_says_who_when_and_why() -> None:
    job = make_job(schedule="@hourly")
    client = admin_client()

    client.post(page("job", "pause", job.pk), {"reason": "<i>supplier</i> down"})
    shown = client.get(page("job", "change", job.pk)).content.decode()

    assert "by root: &lt;i&gt;supplier&lt;/i&gt; down" in shown
    assert "../resume/" in shown
    assert "../pause/" not in shown


def test_jobs_are_switched_together_and_each_is_logged() -> None:
    on, off = make_job(schedule="@hourly"), make_job(schedule="@hourly", enabled=False)
    client = admin_client()

    client.post(page("job"), {"action": "disable_selected", "_selected_action": [on.pk, off.pk]})
    assert list(Job.objects.values_list("enabled", flat=True)) == [False, False]
    client.post(page("job"), {"action": "enable_selected", "_selected_action": [on.pk, off.pk]})

    assert [job.next_run_at is not None for job in Job.objects.all()] == [True, True]
    assert [words for _, words in entries()] == ["Disabled.", "Enabled.", "Enabled."]


def test_a_waiting_run_is_cancelled_and_a_running_one_is_asked() -> None:
    waiting, lease, over = make_run(make_job()), running(make_job()), failed_run()
    chosen = {"action": "cancel_selected", "_selected_action": [waiting.pk, lease.run_id, over.pk], "_confirmed": "yes"}

    response = admin_client().post(page("run"), {**chosen, "reason": "wrong day"}, follow=True)

    waiting.refresh_from_db()
    lease.refresh_from_db()
    assert (waiting.status, waiting.reason) == (RunStatus.CANCELLED, "cancelled by root: wrong day")
    assert lease.cancel_requested_at is not None
    assert lease.cancel_reason == "cancelled by root: wrong day"
    assert len(entries()) == 2
    assert any("over already" in words for words in said(response))


def test_a_second_cancel_says_that_the_worker_was_asked_already() -> None:
    lease = running(make_job())
    client = admin_client()
    client.post(page("run", "cancel", lease.run_id), {"reason": ""})

    response = client.post(page("run", "cancel", lease.run_id), {"reason": ""}, follow=True)

    assert any("was asked already" in words for words in said(response))
    assert len(entries()) == 1


def test_a_retried_run_is_ready_again_and_one_that_succeeded_is_not() -> None:
    failed, done = failed_run(), make_run(make_job(), status=RunStatus.SUCCESSFUL, finished_at=now())

    response = admin_client().post(
        page("run"), {"action": "retry_selected", "_selected_action": [failed.pk, done.pk]}, follow=True
    )

    failed.refresh_from_db()
    done.refresh_from_db()
    assert (failed.status, failed.reason) == (RunStatus.READY, "retried by root")
    assert done.status == RunStatus.SUCCESSFUL
    assert any("only failed and cancelled runs" in words for words in said(response))


def test_a_released_lease_hands_its_run_to_the_next_worker() -> None:
    lease = running(make_job())

    asked = admin_client().post(page("lease"), {"action": "release_selected", "_selected_action": [lease.pk]})
    assert "happens twice" in asked.content.decode()
    assert Lease.objects.count() == 1
    response = logged_in(viewer("release_lease")).post(
        page("lease", "release", lease.pk), {"reason": "host is gone"}, follow=True
    )

    run = Run.objects.get()
    assert not Lease.objects.exists()
    assert (run.status, run.reason) == (RunStatus.READY, "lease released by ada: host is gone")
    assert Attempt.objects.get().outcome == "released"
    assert entries() == [("ada", f"Released lease {lease.pk}: lease released by ada: host is gone.")]
    assert "Released, another worker may take up the run: lease" in said(response)[0]


def test_more_rows_than_can_be_done_at_once_are_refused_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django_leasejobs.admin.verbs.MOST_AT_ONCE", 2)
    jobs = [make_job() for _ in range(3)]
    chosen = {"action": "trigger_selected", "_selected_action": [job.pk for job in jobs]}

    response = admin_client().post(page("job"), chosen, follow=True)

    assert said(response) == ["At most 2 rows can be chosen at once. Nothing was done."]
    assert not Run.objects.exists()
