"""People with permissions, what they post, and the rows that pages show."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from django_leasejobs.models import Job, Lease, Run, RunStatus, Worker
from tests.support.factories import NOOP, make_run, make_worker, now

MARKUP = "<b>bold</b>"
ESCAPED = "&lt;b&gt;bold&lt;/b&gt;"


def person(*codenames: str, name: str = "ada") -> User:
    """A member of the staff with only these permissions of the app."""
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="leasejobs", codename__in=codenames))
    return user


def viewer(*more: str) -> User:
    """A member of the staff who may see everything and do what is named."""
    return person("view_job", "view_run", "view_lease", "view_worker", "view_calendar", *more)


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def admin_client() -> Client:
    return logged_in(User.objects.create_superuser("root"))


def page(model: str, name: str = "changelist", *args: Any) -> str:
    return reverse(f"admin:leasejobs_{model}_{name}", args=args)


def job_form(**over: Any) -> dict[str, Any]:
    """What a browser posts from the form of a job."""
    return {
        "name": "report",
        "description": "",
        "enabled": "on",
        "task": NOOP,
        "args": "[]",
        "kwargs": "{}",
        "schedule": "0 2 * * *",
        "timezone": "Europe/Berlin",
        "starts_at_0": "",
        "starts_at_1": "",
        "ends_at_0": "",
        "ends_at_1": "",
        "spread": "0s",
        "overlap": "skip",
        "catch_up": "latest",
        "start_deadline": "",
        "retries": "0",
        "backoff": "10s",
        "timeout": "",
        "lease": "1m",
        "max_lost": "3",
        "pause_after_failures": "",
        "queue": "default",
        "priority": "0",
        **over,
    }


def errors_of(response: Any) -> dict[str, list[str]]:
    """The errors of the form on a page, by field."""
    assert response.status_code == 200
    return {name: list(messages) for name, messages in response.context["adminform"].form.errors.items()}


def said(response: Any) -> list[str]:
    """The messages that a followed response shows."""
    return [str(message) for message in response.context["messages"]]


def entries() -> list[tuple[str, str]]:
    """What the admin log holds, oldest first: who, and what was done."""
    found = LogEntry.objects.order_by("pk").select_related("user")
    return [(entry.user.get_username(), entry.get_change_message()) for entry in found]


def running(job: Job, *, worker: Worker | None = None, expires_in: timedelta = timedelta(minutes=1)) -> Lease:
    """A run of the job under a lease of a worker."""
    worker = worker or make_worker()
    instant = now()
    run: Run = make_run(
        job, status=RunStatus.RUNNING, worker_name=worker.name, started_at=instant, last_attempted_at=instant
    )
    return Lease.objects.create(
        run=run,
        worker=worker,
        duration=timedelta(minutes=1),
        claimed_at=instant,
        renewed_at=instant,
        expires_at=instant + expires_in,
    )
