"""Which database the pages read, and how their posts stand beside workers that write."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, connections
from django.test import override_settings

from django_leasejobs.engine.edit import save_job
from django_leasejobs.models import Calendar, Job, RunStatus
from tests.admin.support import admin_client, entries, job_form, page, running
from tests.support.factories import make_job, make_run, make_task, make_worker, now


class ReplicaRouter:
    """Sends reads of the app to a replica that isn't there: whoever reads by way of the router fails."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        return "replica" if model._meta.app_label == "leasejobs" else None

    def db_for_write(self, model: Any, **hints: Any) -> str | None:
        return "default" if model._meta.app_label == "leasejobs" else None

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool:
        return True


class ElsewhereRouter(ReplicaRouter):
    """Knows nothing of the alias in LEASEJOBS: it sends the app to a database without its tables."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        return "elsewhere" if model._meta.app_label == "leasejobs" else None

    db_for_write = db_for_read


@pytest.fixture
def elsewhere() -> Iterator[None]:
    """An empty database beside the test's own."""
    connections.databases["elsewhere"] = {
        **connections.databases["default"],
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": ":memory:",
        "OPTIONS": {},
    }
    connections["elsewhere"].connect()
    yield
    connections["elsewhere"].connection.close()
    del connections["elsewhere"]
    del connections.databases["elsewhere"]


@pytest.mark.django_db
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    ("router", "configured"), [(ReplicaRouter, None), (ElsewhereRouter, "default")], ids=["routed", "configured"]
)
def test_every_page_and_post_uses_the_database_that_is_written_to(router: type, configured: str | None) -> None:
    """S31"""
    settings = {
        "DATABASE_ROUTERS": [f"{router.__module__}.{router.__name__}"],
        "LEASEJOBS": {} if configured is None else {"DATABASE": configured},
    }
    make_task()
    holidays, unused, other = (
        Calendar.objects.create(name=name, definition={"weekdays": ["sun"]}) for name in ("holidays", "unused", "other")
    )
    job, spare = make_job(schedule="@hourly", exclude=["holidays"]), make_job()
    run = make_run(job, status=RunStatus.FAILED, finished_at=now())
    run.attempts.create(token=1, number=1, outcome="failed", started_at=now(), ended_at=now())
    lease = running(make_job(), worker=make_worker())
    lease.exclusive_job = job
    lease.save()
    client = admin_client()
    rows = [("job", job), ("run", run), ("run", lease.run), ("lease", lease), ("worker", lease.worker)]

    with override_settings(**settings):
        for model, row in [*rows, ("calendar", holidays)]:
            assert client.get(page(model)).status_code == 200
            assert client.get(page(model), {"q": "report"}).status_code == 200
            assert client.get(page(model, "change", row.pk)).status_code == 200
            assert client.get(page(model, "history", row.pk)).status_code == 200
        posts = [
            (page("job", "add"), job_form(exclude=["holidays"])),
            (page("job", "change", job.pk), job_form(name=job.name)),
            (page("job", "trigger", job.pk), {"args": "[]", "kwargs": "{}"}),
            (page("job", "pause", job.pk), {"reason": ""}),
            (page("job", "resume", job.pk), {}),
            (page("job"), {"action": "disable_selected", "_selected_action": [job.pk]}),
            (page("job"), {"action": "delete_selected", "_selected_action": [spare.pk], "post": "yes"}),
            (page("run", "retry", run.pk), {"reason": ""}),
            (page("run", "cancel", run.pk), {"reason": ""}),
            (page("job", "delete", job.pk), {"post": "yes"}),
            (page("lease", "release", lease.pk), {"reason": ""}),
            (page("calendar", "add"), {"name": "more", "timezone": "UTC", "weekdays": "sat"}),
            (page("calendar", "delete", unused.pk), {"post": "yes"}),
            (page("calendar"), {"action": "delete_selected", "_selected_action": [other.pk], "post": "yes"}),
        ]
        for address, data in posts:
            assert client.post(address, data).status_code == 302, address

    assert len(entries()) == len(posts)


@pytest.mark.django_db(transaction=True)
def test_a_post_waits_for_a_worker_that_writes_meanwhile() -> None:
    """A transaction that reads first and writes later would fail at once on SQLite."""
    make_task()
    job = make_job(schedule="@hourly")
    client = admin_client()
    stop = threading.Event()

    def write_on() -> None:
        try:
            other = make_job()
            while not stop.is_set():
                save_job(other)
        finally:
            connection.close()

    writer = threading.Thread(target=write_on)
    writer.start()
    try:
        statuses = [
            client.post(page("job", "change", job.pk), job_form(name=job.name, description=str(number))).status_code
            for number in range(10)
        ]
    finally:
        stop.set()
        writer.join()

    assert statuses == [302] * 10
    assert Job.objects.get(pk=job.pk).description == "9"
