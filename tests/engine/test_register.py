from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from django_leasejobs.engine.register import (
    WorkerIdentity,
    beat,
    deregister_worker,
    forget_dead_workers,
    live_workers,
    register_worker,
)
from django_leasejobs.models import Lease, Worker
from django_leasejobs.version import __version__
from tests.support.factories import claim, make_run, make_worker, now
from tests.support.rows import HOUR

pytestmark = pytest.mark.django_db

IDENTITY = WorkerIdentity(
    name="w1", host="h", pid=7, pool="thread", concurrency=3, queues=("a",), tasks=("t",),
    heartbeat_every=timedelta(seconds=20),
)  # fmt: skip


def test_a_hello_is_a_row_with_the_time_of_the_database() -> None:
    before = now()

    worker = Worker.objects.get(pk=register_worker(IDENTITY))

    assert (worker.name, worker.host, worker.pid, worker.pool, worker.concurrency) == ("w1", "h", 7, "thread", 3)
    assert (worker.queues, worker.tasks, worker.version, worker.stopping) == (["a"], ["t"], __version__, False)
    assert before <= worker.started_at <= worker.heartbeat_at <= now()


def test_two_workers_of_one_name_have_two_rows() -> None:
    assert register_worker(IDENTITY) != register_worker(IDENTITY)
    assert Worker.objects.count() == 2


def test_a_hello_takes_the_place_of_silent_workers_of_its_name_and_of_no_other() -> None:
    long_ago = now() - HOUR
    alive = make_worker(name="w1")
    other = make_worker(name="w2", heartbeat_at=long_ago)
    silent = make_worker(name="w1", heartbeat_at=long_ago)
    make_run()
    (run,) = claim(worker=silent).runs

    mine = register_worker(IDENTITY)

    assert set(Worker.objects.values_list("pk", flat=True)) == {alive.pk, other.pk, mine}
    assert Lease.objects.values_list("pk", "worker_id").get() == (run.token, None)
    assert not beat(silent.pk, clock_offset=None, stopping=False, timeout=5)


def test_a_heartbeat_moves_only_its_own_row() -> None:
    long_ago = now() - HOUR
    mine, other = (make_worker(heartbeat_at=long_ago) for _ in range(2))

    assert beat(mine.pk, clock_offset=timedelta(seconds=-3), stopping=True, timeout=5)

    mine.refresh_from_db()
    other.refresh_from_db()
    assert mine.heartbeat_at > long_ago == other.heartbeat_at
    assert (mine.clock_offset, mine.stopping, other.stopping) == (timedelta(seconds=-3), True, False)


def test_a_worker_whose_row_was_deleted_is_told_so() -> None:
    assert not beat(10**9, clock_offset=None, stopping=False, timeout=5)


def test_a_goodbye_takes_the_row_and_leaves_the_leases() -> None:
    worker, other = make_worker(), make_worker()
    make_run()
    (run,) = claim(worker=worker).runs

    deregister_worker(worker.pk)
    deregister_worker(worker.pk)

    assert list(Worker.objects.all()) == [other]
    assert Lease.objects.values_list("pk", "worker_id").get() == (run.token, None)


def test_only_workers_silent_for_a_day_are_forgotten() -> None:
    kept = [make_worker(), make_worker(heartbeat_at=now() - 23 * HOUR)]
    gone = make_worker(heartbeat_at=now() - 25 * HOUR)
    make_run()
    (run,) = claim(worker=gone).runs

    assert (forget_dead_workers(), forget_dead_workers()) == (1, 0)
    assert set(Worker.objects.all()) == set(kept)
    assert Lease.objects.values_list("pk", "worker_id").get() == (run.token, None)


def test_a_worker_lives_for_three_of_its_own_heartbeats() -> None:
    slow = make_worker(heartbeat_every=timedelta(hours=1), heartbeat_at=now() - 2 * HOUR)
    make_worker(heartbeat_every=timedelta(seconds=20), heartbeat_at=now() - timedelta(seconds=70))
    fresh = make_worker()

    assert {worker.pk for worker in live_workers(connection.alias)} == {slow.pk, fresh.pk}
