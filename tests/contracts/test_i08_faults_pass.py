"""I8: after a dropped connection the same functions go on; nothing is lost and nothing runs twice."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import Error, connection

from django_leasejobs import vendor
from django_leasejobs.engine.look import look_ahead
from django_leasejobs.engine.outcomes import Raised, Succeeded
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.reclaim import reclaim_leases
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.models import Run, RunStatus
from django_leasejobs.worker.execute import Channel, execute
from tests.support.factories import NOOP, claim, make_due_job, make_job, make_run, make_task, rng
from tests.support.rows import all_rows, claimed_run, end, expire
from tests.support.sessions import Side
from tests.support.testjobs.models import Unique
from tests.worker.support import LIMITS

pytestmark = pytest.mark.django_db(transaction=True)


def drop_connection() -> None:
    """End this session from outside, as a restarted server or a proxy does."""
    raw: Any = connection.connection
    if connection.vendor == "sqlite":
        raw.close()
        return
    kill = "SELECT pg_terminate_backend(%s)" if connection.vendor == "postgresql" else "KILL %s"
    session = raw.info.backend_pid if connection.vendor == "postgresql" else raw.thread_id()

    def terminate() -> None:
        with connection.cursor() as cursor:
            cursor.execute(kill, [session])

    Side(terminate).result()


def acts() -> dict[str, Callable[[], Any]]:
    """Return one call of each thing a worker does all the time, with something to do for it."""
    make_task()
    run = claimed_run(make_job())
    lost = claimed_run(make_job())
    expire(lost)
    make_run(make_job())
    make_due_job()
    return {
        "look": lambda: look_ahead(queues=(), tasks=(NOOP,)),
        "renew": lambda: renew_leases([run.token], timeout=5),
        "plan": plan_jobs,
        "reclaim": lambda: reclaim_leases(rng=rng()),
        "claim": claim,
        "finish": lambda: end(run, Succeeded()),
    }


@pytest.mark.parametrize("name", ["look", "renew", "plan", "reclaim", "claim", "finish"])
def test_a_dropped_connection_is_a_fault_that_passes(name: str) -> None:
    act = acts()[name]
    before = all_rows()
    drop_connection()

    with pytest.raises(Error) as caught:
        act()
    assert vendor.is_database_fault(caught.value)
    connection.close()

    assert all_rows() == before
    act()
    assert all_rows() != before or name == "look"


def query_cut_off() -> None:
    """Write, lose the connection, and ask the database for something more."""
    Unique.objects.create(name="written before")
    drop_connection()
    Unique.objects.exists()


@pytest.mark.parametrize("atomic", [False, True])
def test_a_job_whose_own_connection_is_cut_has_failed_and_its_retry_has_a_new_one(atomic: bool) -> None:
    """What passes is the worker's fault. The job may have written already, so only its author knows what to do."""
    make_task("cut off", query_cut_off, atomic=atomic)
    make_run(task="cut off", retries=1, backoff=timedelta(0))
    (run,) = claim(tasks=["cut off"]).runs

    done = execute(run, Channel(run, lambda token, value: None), worker_name="tester", limits=LIMITS)
    end(run, done.ending)

    stored = Run.objects.get()
    assert isinstance(done.ending, Raised)
    assert stored.attempts.get().error.startswith(type_of_the_fault())
    assert (stored.status, stored.failures, stored.lost) == (RunStatus.READY, 1, 0)
    assert Unique.objects.exists() is not atomic
    assert [again.run_id for again in claim(tasks=["cut off"]).runs] == [run.run_id]


def type_of_the_fault() -> str:
    """SQLite has no server: there the test closes the driver's connection."""
    return "ProgrammingError" if connection.vendor == "sqlite" else "OperationalError"
