"""Small words for tests with real workers."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from django_leasejobs.models import Job, Run, RunStatus
from tests.support.factories import make_job, make_run
from tests.support.processes import wait_until
from tests.support.testjobs.models import Effect

LEASE = timedelta(seconds=2)
VENDOR = connection.vendor

postgres_stands_for_all = pytest.mark.skipif(
    VENDOR != "postgresql", reason="nothing of it depends on the database: PostgreSQL stands for all"
)
needs_several_writers = pytest.mark.skipif(
    VENDOR == "sqlite", reason="SQLite has one writer at a time: a stopped process that holds the file stops all"
)


def job_of(task: str, **values: Any) -> Job:
    """Insert a job of a test task with a short lease, by hand only unless it gets a schedule."""
    return make_job(**{"task": task, "lease": LEASE, **values})


def run_of(task: str, *, job: Job | None = None, **values: Any) -> Run:
    """Insert a run of a test task that may start now."""
    return make_run(job or job_of(task), **{"task": task, "lease_duration": LEASE, **values})


def now_of(run: Run) -> Run:
    run.refresh_from_db()
    return run


def wait_for(run: Run, *statuses: RunStatus, timeout: float = 20) -> Run:
    """Wait until the run has one of the statuses (SUCCESSFUL unless given); return it as it is then."""
    wanted = statuses or (RunStatus.SUCCESSFUL,)
    wait_until(lambda: now_of(run).status in wanted, timeout, lambda: f"{wanted} of {described(run)}")
    return run


def described(run: Run) -> str:
    now_of(run)
    words = f"run {run.pk} {run.status} {run.reason!r} {run.error!r}"
    return f"{words} failures={run.failures} lost={run.lost} {run.traceback}"


def outcomes(run: Run) -> list[str]:
    """How the run's attempts ended, oldest first."""
    return [str(outcome) for outcome in run.attempts.order_by("id").values_list("outcome", flat=True)]


def effects(run: Run) -> list[Effect]:
    return list(Effect.objects.filter(run_id=run.pk).order_by("id"))


def told(group: int) -> str:
    """What lives in a process group, for people."""
    return "; ".join(f"{pid} {Path(f'/proc/{pid}/status').read_text().split()[1:5]}" for pid in living(group))


def living(group: int) -> set[int]:
    """The processes of a process group that have not ended."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] not in "ZX":
            found.add(int(folder.name))
    return found
