from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import OperationalError, connection, connections

from django_leasejobs.engine.cancel import cancel_run
from django_leasejobs.engine.complete import complete_atomically
from django_leasejobs.models import Lease, RunStatus, Worker
from django_leasejobs.worker import renewer as renewer_module
from django_leasejobs.worker.book import LeaseBook
from django_leasejobs.worker.renewer import LONGEST_TIMEOUT, SHORTEST_TIMEOUT, Renewer
from django_leasejobs.worker.ticks import ticks
from tests.support.factories import claim, make_run, make_task

from .support import claimed, options

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def clock(monkeypatch):
    """Ticks that only the test moves."""

    class Clock:
        now = 1000.0

    monkeypatch.setattr(renewer_module, "ticks", lambda: Clock.now)
    return Clock


@pytest.fixture
def told():
    return {"lost": [], "cancelled": {}, "registered": []}


@pytest.fixture
def renewer(clock, told):
    make_task()
    return Renewer(
        options().identity(),
        LeaseBook(),
        on_lost=told["lost"].extend,
        on_cancel=told["cancelled"].update,
        on_registered=told["registered"].append,
    )


def hold(renewer, clock, count=1):
    for _ in range(count):
        make_run()
    runs = claim(count).runs
    renewer._book.add(runs, clock.now)
    return runs


def test_it_registers_a_worker_whose_row_somebody_deleted(renewer, told):
    renewer.step()
    (worker,) = Worker.objects.all()
    assert told["registered"] == [worker.pk]
    Worker.objects.all().delete()
    renewer._next_beat = 0
    renewer.step()
    assert told["registered"] == [worker.pk, Worker.objects.get().pk]


def test_it_beats_on_time_and_tells_that_it_stops(renewer, clock):
    renewer.step()
    before = Worker.objects.get()
    clock.now += 19
    renewer.stopping = True
    renewer.step()
    assert Worker.objects.get().heartbeat_at == before.heartbeat_at
    clock.now += 1
    renewer.clock_offset = timedelta(hours=3)
    assert renewer.step() == 20
    after = Worker.objects.get()
    assert after.heartbeat_at > before.heartbeat_at
    assert (after.stopping, after.clock_offset) == (True, timedelta(hours=3))


def test_all_leases_are_renewed_when_the_first_has_used_a_third_of_its_term(renewer, clock, told):
    renewer.step()
    runs = hold(renewer, clock, 3)
    clock.now += 19.9
    assert renewer.step() == pytest.approx(0.1)
    assert not Lease.objects.exclude(renewed_at=runs[0].claimed_at).exists()
    clock.now += 0.1
    assert renewer.step() == 20
    assert Lease.objects.filter(renewed_at__gt=runs[0].claimed_at).count() == 3
    assert renewer._book.next_renewal() == clock.now + 20
    assert told["lost"] == []


def test_a_lease_that_is_gone_is_told_and_the_others_are_renewed(renewer, clock, told):
    gone, kept = hold(renewer, clock, 2)
    Lease.objects.filter(pk=gone.token).delete()
    clock.now += 20
    renewer.step()
    assert told["lost"] == [gone.token]
    assert Lease.objects.get(pk=kept.token).renewed_at > kept.claimed_at


def test_a_lease_that_an_atomic_job_ended_with_its_success_is_not_lost(renewer, clock, told):
    gone, done = hold(renewer, clock, 2)
    Lease.objects.filter(pk=gone.token).delete()
    complete_atomically(done, lambda: (None, ""))
    clock.now += 20
    renewer.step()
    assert told["lost"] == [gone.token]


def test_an_announced_cancel_is_looked_for_at_once(renewer, clock, told):
    renewer.step()
    (run,) = hold(renewer, clock)
    cancel_run(run.run_id, reason="no longer wanted")
    renewer.step()
    assert told["cancelled"] == {}
    renewer.look_now = True
    renewer.step()
    assert told["cancelled"] == {run.token: "no longer wanted"}
    assert Lease.objects.get().run.status == RunStatus.RUNNING


@pytest.mark.parametrize(("lease", "timeout"), [(1, SHORTEST_TIMEOUT), (12, 5), (600, LONGEST_TIMEOUT)])
def test_a_statement_may_take_half_of_what_is_left_of_the_trust(renewer, clock, lease, timeout):
    renewer._book.add([claimed(lease=timedelta(seconds=lease))], clock.now)
    assert renewer._timeout(clock.now) == pytest.approx(timeout)
    assert Renewer._timeout(renewer, clock.now + 3600) == SHORTEST_TIMEOUT


def test_without_leases_only_the_heartbeat_costs_statements(renewer, clock, django_assert_num_queries):
    renewer.step()
    clock.now += 10
    renewer.look_now = True
    with django_assert_num_queries(0):
        assert renewer.step() == 10


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no row locks")
def test_a_lock_on_the_workers_row_does_not_keep_its_leases_waiting(renewer, clock):
    renewer.step()
    renewer._book.add([claimed(lease=timedelta(seconds=1))], clock.now)
    renewer._next_beat = 0
    other = connections.create_connection("default")
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT id FROM leasejobs_worker FOR UPDATE")
        began = ticks()
        with pytest.raises(OperationalError):
            renewer.step()
        assert ticks() - began < 2
    finally:
        other.rollback()
        other.close()
