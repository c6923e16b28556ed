"""I6: whatever a worker's own clock says changes nothing."""

from __future__ import annotations

import ast
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

import django_leasejobs
from django_leasejobs.clock import now_sql
from django_leasejobs.engine.cancel import cancel_run
from django_leasejobs.engine.guard import guarded, save_state
from django_leasejobs.engine.outcomes import Raised, Succeeded
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.prune import prune_runs
from django_leasejobs.engine.reclaim import reclaim_leases
from django_leasejobs.engine.register import beat, live_workers
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.models import Attempt, Lease, Run, Worker
from tests.support.factories import claim, make_due_job, make_job, make_run, make_task, make_worker, now, rng
from tests.support.rows import SECOND, claimed_run, end, expire

pytestmark = pytest.mark.django_db(transaction=True)

PACKAGE = Path(django_leasejobs.__file__).parent
DECIDING = ["engine", "models", "policies", "schedules", "clock.py", "vendor.py"]
TELL_THE_TIME = re.compile(r"\b(now|utcnow|today|localtime|gmtime|localdate|time_ns)$|^time\.time$")


def sources() -> list[Path]:
    return [path for name in DECIDING for path in ([PACKAGE / name] if "." in name else (PACKAGE / name).rglob("*.py"))]


def clock_calls(path: Path) -> list[str]:
    """Return the calls of a module that ask this machine for the time of day."""
    tree = ast.parse(path.read_text())
    names = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls = [ast.unparse(name) for name in names if TELL_THE_TIME.search(ast.unparse(name))]
    imported = [
        f"from {node.module} import {alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in ("time", "django.utils.timezone")
        for alias in node.names
    ]
    return calls + imported


def test_no_module_that_decides_asks_this_machine_for_the_time() -> None:
    found = {str(path.relative_to(PACKAGE)): clock_calls(path) for path in sources() if clock_calls(path)}

    assert found == {}
    assert len(sources()) > 30


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_machine_whose_clock_is_hours_off_writes_the_databases_time(
    hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: right() + timedelta(hours=hours))
    make_task()
    make_due_job()
    worker = make_worker()
    start = now()

    plan_jobs()
    beat(worker.pk, clock_offset=None, stopping=False, timeout=5)
    (run,) = claim(worker=worker).runs
    renew_leases([run.token], timeout=5)
    save_state(run, 1)
    cancel_run(run.run_id, reason="x")
    end(run, Raised("E"))

    times = [
        *Run.objects.values_list("created_at", "started_at", "last_attempted_at", "finished_at").get(),
        *Attempt.objects.values_list("started_at", "ended_at").get(),
        Worker.objects.get().heartbeat_at,
    ]
    assert [at for at in times if at is None or not start - SECOND <= at <= now()] == []


@pytest.mark.parametrize("hours", [-5, 5])
def test_a_machine_whose_clock_is_hours_off_takes_and_deletes_nothing_early(
    hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = timezone.now
    run = claimed_run(make_job())
    make_run(make_job(), available_at=now() + 60 * SECOND)
    make_due_job(ago=timedelta(hours=-1))
    worker = make_worker()
    monkeypatch.setattr(timezone, "now", lambda: right() + timedelta(hours=hours))

    assert reclaim_leases(rng=rng()).settlements == ()
    assert claim().runs == ()
    assert plan_jobs().jobs == 0
    assert [alive.pk for alive in live_workers(connection.alias)] == [worker.pk]
    with guarded(run):
        pass
    end(run, Succeeded())
    assert prune_runs({"SUCCESSFUL": timedelta(hours=1)}) == 0


def test_the_statement_that_decides_carries_the_databases_clock() -> None:
    run = claimed_run(make_job())
    expire(run)
    make_due_job()
    clock = now_sql(connection)
    table = {"claim": claim, "plan": plan_jobs, "reclaim": lambda: reclaim_leases(rng=rng())}

    for name, act in table.items():
        with CaptureQueriesContext(connection) as queries:
            act()
        first = next(query["sql"] for query in queries if query["sql"].startswith("SELECT"))
        assert clock in first.replace("%%", "%"), name
    assert not Lease.objects.filter(pk=run.token).exists()
