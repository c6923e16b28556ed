"""Instants with fractions of a second, and columns that somebody altered so that they keep none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection

from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.reclaim import reclaim_leases
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.engine.trigger import Order, trigger_job
from django_leasejobs.models import Job, Lease, Run
from tests.support.factories import claim, make_due_job, make_job, make_run, make_task, now, rng
from tests.support.processes import wait_until
from tests.support.rows import SECOND

ALMOST = timedelta(microseconds=999_999)
COLUMNS = [(Run, "available_at", "NOT NULL"), (Lease, "expires_at", "NOT NULL"), (Job, "next_run_at", "NULL")]


def last_fraction() -> timedelta:
    """Return how far into its second the database's time is."""
    return timedelta(microseconds=now().microsecond)


@pytest.mark.django_db
def test_a_run_triggered_now_is_due_now_in_whatever_part_of_the_second() -> None:
    make_task()
    job = make_job(overlap="allow")
    for fraction in (0.1, 0.7, 0.95):
        wait_until(lambda fraction=fraction: last_fraction() >= SECOND * fraction, every=0.005)
        run = trigger_job(job.name, Order())
        assert [got.run_id for got in claim().runs] == [run.pk]


@pytest.mark.django_db
def test_the_last_microsecond_of_a_second_is_not_rounded_into_the_next() -> None:
    instant = (now() - 2 * SECOND).replace(microsecond=999_999)
    job = make_due_job(schedule="@every 1h", next_run_at=instant)
    run = make_run(available_at=instant)
    (got,) = claim().runs
    Lease.objects.update(expires_at=instant)

    job.refresh_from_db()
    assert (got.run_id, job.next_run_at, Lease.objects.get().expires_at) == (run.pk, instant, instant)
    assert plan_jobs().jobs == 1
    assert len(reclaim_leases(rng=rng()).settlements) == 1


@pytest.fixture
def _whole_seconds(transactional_db: None) -> Iterator[None]:
    with connection.cursor() as cursor:
        for precision in (0, 6):
            for model, column, null in COLUMNS:
                cursor.execute(f"ALTER TABLE {model._meta.db_table} MODIFY {column} DATETIME({precision}) {null}")
            if precision == 0:
                yield


@pytest.mark.skipif(connection.vendor != "mysql", reason="only MySQL's columns say how many digits they keep")
@pytest.mark.usefixtures("_whole_seconds")
@pytest.mark.parametrize("fraction", [0.1, 0.7])
def test_columns_of_whole_seconds_delay_by_a_second_at_most_and_no_lease_is_born_expired(fraction: float) -> None:
    make_task()
    job = make_job(lease=SECOND)
    wait_until(lambda: last_fraction() >= SECOND * fraction, every=0.005)
    start = now()

    run = trigger_job(job.name, Order())
    (got,) = wait_until(lambda: claim().runs, timeout=5)

    assert now() - start < 2 * SECOND
    assert got.run_id == run.pk
    assert renew_leases([got.token], timeout=5).held == {got.token}
    assert Lease.objects.get().expires_at > now()
