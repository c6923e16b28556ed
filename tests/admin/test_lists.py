from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_leasejobs.admin.paging import MOST_LISTED
from django_leasejobs.engine.overview import all_jobs
from django_leasejobs.engine.trigger import Order, trigger_job
from django_leasejobs.models import Job, Run, RunStatus, Worker
from tests.admin.support import ESCAPED, MARKUP, admin_client, logged_in, page, person, running, viewer
from tests.support.factories import make_job, make_run, make_task, make_worker, now

pytestmark = pytest.mark.django_db


def statements(client: Any, address: str) -> list[str]:
    """The statements of a page, seen once before so that Django's caches are full."""
    client.get(address)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(address).status_code == 200
    return [query["sql"] for query in captured.captured_queries]


def ended(job: Job, status: RunStatus, *, ago: timedelta = timedelta(0), **values: Any) -> Run:
    instant = now() - ago
    return make_run(job, status=status, finished_at=instant, started_at=instant, last_attempted_at=instant, **values)


def fill(number: int) -> None:
    for _ in range(number):
        job = make_job(schedule="0 2 * * *", next_run_at=now())
        ended(job, RunStatus.SUCCESSFUL)
        ended(job, RunStatus.FAILED, scheduled_for=now())
        running(job)


@pytest.mark.parametrize("model", ["job", "run", "lease", "worker"])
def test_the_number_of_statements_of_a_list_does_not_grow_with_its_rows(model: str) -> None:
    client = admin_client()
    fill(1)
    few = statements(client, page(model))
    fill(15)

    assert len(statements(client, page(model))) == len(few)
    assert len(few) <= 7


@pytest.mark.parametrize("model", ["job", "run"])
def test_the_number_of_statements_of_a_page_does_not_grow_with_the_history(model: str) -> None:
    client = admin_client()
    job = make_job(schedule="0 2 * * *")
    row = job if model == "job" else ended(job, RunStatus.FAILED)
    few = statements(client, page(model, "change", row.pk))
    for _ in range(20):
        ended(job, RunStatus.FAILED)

    assert len(statements(client, page(model, "change", row.pk))) == len(few)


def test_the_list_of_runs_never_counts_all_rows() -> None:
    client = admin_client()
    fill(3)

    sql = statements(client, page("run")) + statements(client, f"{page('run')}?status=FAILED")

    counts = [item for item in sql if "COUNT(" in item]
    assert len(counts) == 2
    assert all(f"LIMIT {MOST_LISTED}" in item for item in counts)


def test_runs_are_filtered_by_status_the_last_that_ended_first() -> None:
    job = make_job()
    first, second = ended(job, RunStatus.FAILED), ended(job, RunStatus.FAILED, ago=timedelta(hours=1))
    ended(job, RunStatus.SUCCESSFUL)
    waiting = make_run(job)
    client = admin_client()

    def listed(status: str) -> list[Run]:
        return list(client.get(page("run"), {"status": status}).context["cl"].result_list)

    assert listed("FAILED") == [first, second]
    assert listed("READY") == [waiting]
    assert listed("MISSED") == []
    assert len(listed("nonsense")) == 4


def test_only_the_newest_runs_are_listed_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django_leasejobs.admin.paging.MOST_LISTED", 60)
    monkeypatch.setattr("django_leasejobs.admin.run.MOST_LISTED", 60)
    job = make_job()
    Run.objects.bulk_create(
        Run(job=job, job_name=job.name, task=job.task, created_at=now(), available_at=now()) for _ in range(130)
    )
    client = admin_client()

    first, last = client.get(page("run")), client.get(f"{page('run')}?p=2")
    beyond = client.get(f"{page('run')}?p=3")

    assert "Only the newest 60 runs are listed." in first.content.decode()
    assert first.context["cl"].result_list[0] == Run.objects.latest("pk")
    assert len(last.context["cl"].result_list) == 10
    assert beyond.status_code == 302


def test_the_list_of_jobs_says_how_each_is() -> None:
    make_task()
    at = now()
    make_job(name="a enabled", schedule="0 2 * * 1-5", timezone="Europe/Berlin")
    make_job(name="b paused", paused_at=at, paused_by="grace", pause_reason="supplier down")
    make_job(name="c retired", retired_at=at, enabled=False)
    make_job(name="d broken", schedule="61 * * * *", schedule_error="minute: 61 is out of range")
    make_job(name="e unknown", task="gone.task")
    make_job(name="f disabled", enabled=False)

    response = admin_client().get(page("job"))

    text = response.content.decode()
    for words in (
        "at 02:00 on weekdays",
        "only by hand",
        "by grace: supplier down",
        "minute: 61 is out of range",
        "no code of this process registers the task &#x27;gone.task&#x27;",
        "it left the code",
        "61 * * * *",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("state", "names"),
    [
        ("active", ["a"]),
        ("paused", ["b"]),
        ("retired", ["c"]),
        ("broken", ["d"]),
        ("disabled", ["f"]),
        ("nonsense", ["a", "b", "c", "d", "f"]),
    ],
)
def test_jobs_are_filtered_by_state(state: str, names: list[str]) -> None:
    at = now()
    make_job(name="a")
    make_job(name="b", paused_at=at)
    make_job(name="c", retired_at=at, enabled=False)
    make_job(name="d", schedule_error="minute: 61 is out of range")
    make_job(name="f", enabled=False)

    response = admin_client().get(f"{page('job')}?state={state}")

    assert [job.name for job in response.context["cl"].result_list] == names


def test_the_last_outcome_is_the_one_that_ended_last_by_hand_or_by_schedule() -> None:
    by_hand, by_schedule, never = make_job(name="a"), make_job(name="b"), make_job(name="c")
    hour = timedelta(hours=1)
    ended(by_hand, RunStatus.FAILED, ago=hour, scheduled_for=now() - hour)
    ended(by_hand, RunStatus.SUCCESSFUL)
    ended(by_schedule, RunStatus.SUCCESSFUL, ago=hour)
    ended(by_schedule, RunStatus.FAILED, scheduled_for=now())
    make_run(by_schedule, scheduled_for=now() + hour)
    running(never)

    listed = admin_client().get(page("job")).context["cl"].result_list

    assert [job.last_run and job.last_run.status for job in listed] == ["SUCCESSFUL", "FAILED", None]


def test_the_last_outcome_is_the_same_as_in_list_jobs_when_a_trigger_was_skipped() -> None:
    job = make_job(name="a")
    ended(job, RunStatus.SUCCESSFUL)
    running(job)
    assert trigger_job("a", Order()).status == RunStatus.SKIPPED

    (shown,) = admin_client().get(page("job")).context["cl"].result_list

    (listed,) = all_jobs()
    assert (shown.last_run.status, shown.last_run.pk) == ("SUCCESSFUL", listed.last_run)
    assert (listed.last_status, listed.running, listed.waiting) == ("SUCCESSFUL", 1, 0)


def test_the_page_of_a_job_names_what_runs_and_what_ended_last() -> None:
    job = make_job()
    old, new = ended(job, RunStatus.FAILED), ended(job, RunStatus.SUCCESSFUL)
    lease, waiting = running(job), make_run(job)
    make_run(make_job())

    response = admin_client().get(page("job", "change", job.pk))

    assert response.context["last_runs"] == [waiting, lease.run, new, old]


def test_runs_are_found_by_number_and_by_the_names_of_jobs() -> None:
    one, other = make_run(make_job(name="stock.reconcile")), make_run(make_job(name="mail"))
    client = admin_client()

    def found(term: str) -> list[Run]:
        return list(client.get(page("run"), {"q": term}).context["cl"].result_list)

    assert found("reconcile") == [one]
    assert found(str(other.pk)) == [other]
    assert found("9" * 40) == []
    assert found("²") == []
    assert found("") == [other, one]


def test_runs_of_one_job_are_listed_from_its_page() -> None:
    job = make_job()
    mine = make_run(job)
    make_run(make_job())
    client = admin_client()

    shown = client.get(page("job", "change", job.pk)).content.decode()
    listed = client.get(f"{page('run')}?job__id__exact={job.pk}")

    assert f"?job__id__exact={job.pk}" in shown
    assert list(listed.context["cl"].result_list) == [mine]


@pytest.mark.parametrize("model", ["job", "run", "lease", "worker", "calendar"])
def test_a_page_needs_its_permission_to_view(model: str) -> None:
    assert logged_in(viewer()).get(page(model)).status_code == 200
    assert logged_in(person(name="nobody")).get(page(model)).status_code == 403


def test_markup_in_names_arguments_logs_and_errors_is_escaped_everywhere() -> None:
    worker = make_worker(name=MARKUP, host=MARKUP, queues=[MARKUP])
    job = make_job(name=MARKUP, description=MARKUP, pause_reason=MARKUP, paused_at=now(), paused_by=MARKUP)
    texts = {"reason": MARKUP, "error": MARKUP, "traceback": MARKUP, "log": MARKUP, "triggered_by": MARKUP}
    run = ended(job, RunStatus.FAILED, args=[MARKUP], kwargs={MARKUP: 1}, result=MARKUP, state=MARKUP, **texts)
    moments = {"started_at": now(), "ended_at": now()}
    run.attempts.create(token=1, number=1, outcome="failed", worker_name=MARKUP, error=MARKUP, log=MARKUP, **moments)
    lease = running(job, worker=worker)
    lease.progress = {"done": 1, "total": 2, "message": MARKUP}
    lease.cancel_requested_at, lease.cancel_reason = now(), MARKUP
    lease.save()
    client = admin_client()
    client.post(page("job", "resume", job.pk), {})
    addresses = [page(model) for model in ("job", "run", "lease", "worker")] + [
        page("job", "change", job.pk),
        page("job", "trigger", job.pk),
        page("job", "pause", job.pk),
        page("job", "delete", job.pk),
        page("job", "history", job.pk),
        page("run", "change", run.pk),
        page("run", "retry", run.pk),
        page("run", "change", lease.run_id),
        page("lease", "change", lease.pk),
        page("lease", "release", lease.pk),
        page("worker", "change", worker.pk),
    ]

    for address in addresses:
        text = client.get(address).content.decode()
        assert ESCAPED in text, address
        assert MARKUP not in text, address


def test_the_page_of_a_run_tells_all_of_it_and_changes_nothing() -> None:
    job = make_job(name="report")
    instant = now()
    run = ended(
        job,
        RunStatus.FAILED,
        origin="schedule",
        scheduled_for=instant - timedelta(seconds=90),
        failures=1,
        kwargs={"warehouse": "main"},
        result={"rows": 3},
        log="line one\nline two",
        traceback="Traceback: here",
        progress={"done": 3, "total": 10, "message": "rows"},
    )
    run.attempts.create(
        token=7, number=1, outcome="failed", worker_name="web-1", started_at=instant, ended_at=instant, error="Boom"
    )
    client = admin_client()

    text = client.get(page("run", "change", run.pk)).content.decode()

    for words in (
        "&quot;warehouse&quot;",
        "&quot;rows&quot;",
        "line one\nline two",
        "Traceback: here",
        "Boom",
        "1m30s",
    ):
        assert words in text, words
    assert "3 of 10: rows" in text
    assert 'name="_save"' not in text
    assert client.post(page("run", "change", run.pk), {"status": "READY"}).status_code == 403
    assert client.get(page("run", "add")).status_code == 403
    assert client.post(page("run", "delete", run.pk), {"post": "yes"}).status_code == 403


def test_the_page_of_a_running_run_leads_to_its_lease() -> None:
    lease = running(make_job())

    shown = admin_client().get(page("run", "change", lease.run_id)).content.decode()

    assert page("lease", "change", lease.pk) in shown


def test_expired_leases_come_first_and_say_so() -> None:
    fresh = running(make_job(), expires_in=timedelta(minutes=5))
    stuck = running(make_job(), expires_in=timedelta(minutes=-3))
    client = admin_client()

    response = client.get(page("lease"))

    assert list(response.context["cl"].result_list) == [stuck, fresh]
    assert "expired 3m" in response.content.decode()
    assert client.post(page("lease", "delete", stuck.pk), {"post": "yes"}).status_code == 403


def test_workers_say_how_old_their_heartbeat_is_and_how_far_off_their_clock() -> None:
    make_worker(name="a", heartbeat_at=now() - timedelta(minutes=7), clock_offset=timedelta(minutes=-3))
    make_worker(name="b", stopping=True)
    running(make_job(), worker=make_worker(name="c", clock_offset=timedelta(milliseconds=12)))
    client = admin_client()

    text = client.get(page("worker")).content.decode()

    for words in ("silent", "7m", "-3m", "stopping", "alive", "12ms", "1 of 1", "0 of 1"):
        assert words in text
    assert client.get(page("worker", "add")).status_code == 403


def test_only_a_silent_workers_row_can_be_deleted_and_only_with_the_permission() -> None:
    silent, alive = make_worker(name="gone", heartbeat_at=now() - timedelta(hours=1)), make_worker(name="here")
    may = logged_in(viewer("delete_worker"))
    delete = page("worker", "delete", silent.pk)

    assert logged_in(person("view_worker", name="eva")).post(delete, {"post": "yes"}).status_code == 403
    assert may.post(page("worker", "delete", alive.pk), {"post": "yes"}).status_code == 403
    assert page("worker", "delete", alive.pk) not in may.get(page("worker", "change", alive.pk)).content.decode()
    assert delete in may.get(page("worker", "change", silent.pk)).content.decode()
    chosen = {"action": "delete_selected", "_selected_action": [alive.pk, silent.pk], "post": "yes"}
    may.post(page("worker"), chosen)
    assert Worker.objects.count() == 2

    assert may.post(delete, {"post": "yes"}).status_code == 302
    assert list(Worker.objects.all()) == [alive]
    assert [entry.object_repr for entry in LogEntry.objects.all()] == ["gone"]
