"""Databases that go away and come back, and lines that die without a word."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection

from django_leasejobs.models import Job, Lease, Run, RunStatus
from testproject.embedded_postgres import embedded_postgres
from tests.support.factories import make_due_job, now
from tests.support.mariadb import private_mariadb
from tests.support.processes import ROOT, wait_until
from tests.support.proxy import Proxy
from tests.support.testjobs.models import Effect

from .support import LEASE, VENDOR, effects, job_of, outcomes, run_of, wait_for

pytestmark = pytest.mark.processes

only_on_postgres = pytest.mark.skipif(VENDOR != "postgresql", reason="the proxy between passes on TCP to PostgreSQL")


@pytest.fixture(scope="module")
def second_server():
    """A server of this module alone, durable and migrated."""
    servers = {"postgresql": embedded_postgres, "mysql": private_mariadb}
    if VENDOR not in servers:
        pytest.skip("SQLite has no server to restart")
    with servers[VENDOR]() as server:
        migrate = [sys.executable, str(ROOT / "manage.py"), "migrate", "--run-syncdb", "-v0"]
        subprocess.run(migrate, cwd=ROOT, env={**os.environ, "DATABASE_URL": server.url}, check=True, timeout=60)
        yield server


@pytest.fixture
def own_server(second_server, workers):
    """Point the test's own connection and its workers at the second server."""
    workers.environment["DATABASE_URL"] = second_server.url
    before = dict(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(settings_of(second_server.url))
    yield second_server
    workers.end_all()
    call_command("flush", interactive=False, verbosity=0)
    connection.close()
    connection.settings_dict.update(before)


def settings_of(url):
    import environ

    given = environ.Env.db_url_config(url)
    return {name: given.get(name) or "" for name in ("HOST", "PORT", "USER", "PASSWORD", "NAME")} | {
        "OPTIONS": {**connection.settings_dict["OPTIONS"], **given.get("OPTIONS", {})}
    }


@pytest.fixture
def proxy():
    made = Proxy(int(connection.settings_dict["PORT"]))
    yield made
    made.close()


def through(proxy, database_url):
    return database_url.replace(f":{connection.settings_dict['PORT']}/", f":{proxy.port}/")


def modes():
    return ["fast", "immediate"] if VENDOR == "postgresql" else ["fast"]


@pytest.mark.parametrize("mode", modes())
def test_a_worker_goes_on_after_a_restart_of_the_database_under_load(fleet, own_server, mode):
    start = now().replace(microsecond=0)
    options = {"schedule": "@every 1s", "next_run_at": start, "catch_up": "all", "overlap": "queue"}
    every_second = [make_due_job(task="t.atomic", lease=LEASE, **options) for _ in range(4)]
    steady = job_of("t.effect", overlap="allow")
    patient = {"lease_duration": timedelta(seconds=5), "retries": 5, "backoff": timedelta(seconds=0.2)}
    runs = [run_of("t.effect", job=steady, kwargs={"seconds": 0.2}, **patient) for _ in range(40)]
    worker = fleet.start(concurrency=3)
    wait_until(lambda: Run.objects.filter(status=RunStatus.SUCCESSFUL).count() > 10, 20, lambda: worker.output)
    connection.close()
    if VENDOR == "postgresql":
        own_server.restart(mode)
    else:
        own_server.restart()
    back = time.monotonic()
    before = Run.objects.filter(status=RunStatus.SUCCESSFUL).count()
    wait_until(lambda: Run.objects.filter(status=RunStatus.SUCCESSFUL).count() > before, 20, lambda: worker.output)
    print(f"{mode}: first success {time.monotonic() - back:.2f} s after the return")
    for run in runs:
        wait_for(run, timeout=40)
    Job.objects.update(enabled=False, next_run_at=None)
    wait_until(lambda: not Run.objects.filter(status__in=["READY", "RUNNING"]).exists(), 20, lambda: worker.output)
    assert worker.process.poll() is None
    assert not Lease.objects.exists()
    scheduled = Run.objects.filter(job__in=every_second)
    ended_well = scheduled.filter(status=RunStatus.SUCCESSFUL)
    assert scheduled.exclude(status__in=["SUCCESSFUL", "SKIPPED", "FAILED"]).count() == 0
    written = list(Effect.objects.filter(run_id__in=scheduled.values("pk")).values_list("run_id", flat=True))
    assert sorted(written) == sorted(ended_well.values_list("pk", flat=True))
    assert len(worker.output.splitlines()) < 1000


def test_a_worker_that_slept_through_a_restart_runs_what_came_due_meanwhile(fleet, own_server):
    worker = fleet.start(concurrency=1)
    job = make_due_job(task="t.effect", schedule="@every 1h", lease=LEASE, next_run_at=None)
    connection.close()
    own_server.stop()
    time.sleep(1.5)
    own_server.start()
    back = time.monotonic()
    run = run_of("t.effect", job=job)
    wait_for(run)
    assert time.monotonic() - back < 8
    assert worker.process.poll() is None
    faults = [line for line in worker.output.splitlines() if "fault" in line]
    assert 1 <= len(faults) <= 40


@only_on_postgres
def test_a_worker_that_cannot_renew_stops_its_work_before_another_may_begin(fleet, database_url, proxy):
    run = run_of("t.starts", kwargs={"seconds": 6})
    first = fleet.start("--pool", "process", DATABASE_URL=through(proxy, database_url))
    wait_until(lambda: effects(run), 20, lambda: first.output)
    proxy.hold()
    held = time.monotonic()
    first.wait_for_output("could not be renewed in time", 5)
    assert time.monotonic() - held < LEASE.total_seconds()
    assert outcomes(run) == [], "nobody had taken it over by then"
    second = fleet.start()
    wait_for(run)
    assert "lost its lease" in second.output
    assert (outcomes(run), len(effects(run))) == (["lost"], 2)
    proxy.release()
    second.kill()
    again = run_of("t.effect")
    wait_for(again)
    assert first.process.poll() is None


@only_on_postgres
def test_a_worker_on_a_dead_line_can_be_stopped(fleet, database_url, proxy):
    run = run_of("t.starts", kwargs={"seconds": 30})
    worker = fleet.start("--shutdown-timeout", "1", DATABASE_URL=through(proxy, database_url))
    wait_until(lambda: effects(run), 20, lambda: worker.output)
    proxy.hold()
    time.sleep(0.5)
    worker.terminate()
    assert worker.wait(10) == 1, worker.output
    assert "could not record all ends" in worker.output


@only_on_postgres
def test_a_worker_ends_with_an_error_when_its_line_is_dead(fleet, database_url, proxy):
    worker = fleet.command(
        "impatient_job_worker", "--no-sync", "--poll-interval", "0.2", DATABASE_URL=through(proxy, database_url)
    )
    worker.wait_for_output(" started queues=")
    proxy.hold()
    assert worker.wait(20) == 1, worker.output
    assert "no answer from the database" in worker.output
