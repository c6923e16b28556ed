"""What job code finds on its database connections, and what it may do to them."""

from __future__ import annotations

import re
import time

import pytest
from django.db import connection, transaction

from django_leasejobs.models import Job, RunStatus
from tests.support.processes import wait_until
from tests.support.sessions import innodb_transactions

from .support import VENDOR, described, job_of, now_of, outcomes, run_of, wait_for

pytestmark = pytest.mark.processes

RUDE = ["t.swallow", "t.autocommit_off", "t.short_timeout", "t.close_all", "t.thread"]
if VENDOR != "sqlite":
    RUDE.append("t.cut")  # a file has no line that could be cut
SHORTEST_STALL = 0.5


@pytest.mark.parametrize("pool", ["process", "thread"])
def test_a_job_that_spoils_its_connection_leaves_the_next_one_alone(fleet, database_url, pool):
    rude_job, next_job = job_of("t.swallow", overlap="allow"), job_of("t.session", overlap="allow")
    # Sessions are kept from run to run, so that what a job leaves behind would reach the next one.
    url = database_url + ("&" if "?" in database_url else "?") + "conn_max_age=60"
    pairs = [(run_of(task, job=rude_job), run_of("t.session", job=next_job)) for task in RUDE]
    fleet.start("--pool", pool, DATABASE_URL=url)
    for rude, following in pairs:
        wait_for(following)
        wait_for(rude)
        assert outcomes(rude) == outcomes(following) == [], described(rude) + described(following)
        assert following.result["autocommit"] is True
        assert following.result["in_atomic_block"] is False
        assert following.result.get("statement_timeout", 0) in ("0", 0)
    assert len({following.result["process"] for _, following in pairs}) == 1
    writes = run_of("t.effect")
    wait_for(writes)


@pytest.mark.skipif(VENDOR == "sqlite", reason="SQLite has no sessions on a server")
def test_a_persistent_session_is_used_again_and_replaced_when_the_server_ended_it(fleet, database_url):
    url = database_url + ("&" if "?" in database_url else "?") + "conn_max_age=60"
    worker = fleet.start(DATABASE_URL=url)
    first, second = (wait_for(run).result for run in [run_of("t.session") for _ in range(2)])
    assert first["session"] == second["session"]
    assert first["process"] == second["process"] != worker.pid
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT pg_terminate_backend({first['session']})" if VENDOR == "postgresql" else f"KILL {first['session']}"
        )
    third = run_of("t.session")
    wait_for(third, RunStatus.SUCCESSFUL, RunStatus.FAILED)
    assert third.error == ""
    assert third.result["session"] != first["session"]


def test_no_transaction_is_open_while_a_job_runs_and_an_edit_of_the_job_saves_at_once(fleet):
    job = job_of("t.effect")
    run = run_of("t.effect", job=job, kwargs={"seconds": 3})
    worker = fleet.start()
    wait_until(lambda: now_of(run).status == RunStatus.RUNNING, 20, lambda: worker.output)
    began = time.monotonic()
    with transaction.atomic():
        locked = Job.objects.select_for_update().get(pk=job.pk)
        locked.description = "edited meanwhile"
        locked.save()
    assert time.monotonic() - began < SHORTEST_STALL
    while now_of(run).status == RunStatus.RUNNING:
        assert [row for row in open_transactions() if row[1] > SHORTEST_STALL] == []
        time.sleep(0.1)
    assert run.status == RunStatus.SUCCESSFUL


def open_transactions() -> list[tuple[int, float]]:
    """The open transactions of other sessions at this database: their session and their least age in seconds."""
    if VENDOR == "sqlite":
        return []  # the edit above had the file for itself: nobody else did
    with connection.cursor() as cursor:
        if VENDOR == "postgresql":
            cursor.execute(
                "SELECT pid, EXTRACT(EPOCH FROM clock_timestamp() - xact_start)::float FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL"
            )
            return cursor.fetchall()
        cursor.execute("SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()")
        ours = {row[0] for row in cursor.fetchall()}
    # Ages are whole seconds there, and the first may be a moment.
    ages = {session: re.search(r"ACTIVE (\d+) sec", words) for session, words in innodb_transactions().items()}
    return [(session, float(age[1]) - 1) for session, age in ages.items() if session in ours and age]


@pytest.mark.skipif(VENDOR != "postgresql", reason="only PostgreSQL ends sessions that idle in a transaction")
def test_a_short_idle_in_transaction_timeout_of_the_server_does_no_harm(fleet):
    database = connection.settings_dict["NAME"]
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER DATABASE {database} SET idle_in_transaction_session_timeout = '300ms'")
    try:
        run = run_of("t.effect", kwargs={"seconds": 2})
        worker = fleet.start()
        wait_for(run)
        assert outcomes(run) == []
        assert "fault" not in worker.output
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER DATABASE {database} RESET idle_in_transaction_session_timeout")


@pytest.mark.skipif(VENDOR != "postgresql", reason="only PostgreSQL keeps plans that a new column spoils")
def test_a_column_that_is_added_under_a_running_worker_costs_no_run(fleet, database_url):
    url = database_url + ("&" if "?" in database_url else "?") + "prepare_threshold=0&server_side_binding=true"
    job = job_of("t.effect", overlap="allow")
    fine = run_of("t.effect", job=job)
    worker = fleet.start(DATABASE_URL=url)
    wait_for(fine)
    under_way = run_of("t.effect", job=job, kwargs={"seconds": 1})
    wait_until(lambda: now_of(under_way).status == RunStatus.RUNNING)
    tables = ("leasejobs_job", "leasejobs_run", "leasejobs_lease")
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ADD COLUMN later integer")
    try:
        following = run_of("t.effect", job=job)
        wait_for(under_way)
        wait_for(following)
        assert outcomes(under_way) == outcomes(following) == []
        assert worker.process.poll() is None
        assert worker.output.count("fault") <= 3, worker.output
    finally:
        with connection.cursor() as cursor:
            for table in tables:
                cursor.execute(f"ALTER TABLE {table} DROP COLUMN later")
