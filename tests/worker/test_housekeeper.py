from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection, connections

from django_leasejobs import signals
from django_leasejobs.models import Job, Lease, Run, RunStatus, Source, Worker
from django_leasejobs.worker.housekeeper import STUCK_WAIT, Housekeeper, sync_with_code
from tests.support.factories import claim, make_due_job, make_job, make_run, make_task, make_worker, now, rng

from .support import Signals, options

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _a_task():
    make_task()


class Woken:
    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1


def make_housekeeper(**values):
    woken = Woken()
    housekeeper = Housekeeper(options(**values), rng=rng(), wake_dispatcher=woken)
    housekeeper._next_chores = float("inf")
    housekeeper.woken = woken
    return housekeeper


def test_an_idle_look_is_one_statement_and_waits_for_the_poll(django_assert_num_queries):
    housekeeper = make_housekeeper()
    with django_assert_num_queries(1):
        assert housekeeper.step() == 5
    assert housekeeper.woken.times == 0


def test_it_waits_no_longer_than_until_the_next_instant():
    make_job(schedule="@every 1h", next_run_at=now() + timedelta(seconds=2))
    assert make_housekeeper().step() == pytest.approx(2, abs=0.3)
    assert make_housekeeper(poll_interval=0.5).step() == 0.5


def test_a_due_job_is_planned_and_the_dispatcher_woken():
    make_due_job(schedule="@every 1h")
    housekeeper = make_housekeeper()
    assert housekeeper.step() == 0
    assert Run.objects.get().status == RunStatus.READY
    assert housekeeper.woken.times >= 1
    assert housekeeper.step() == 5


def test_a_worker_that_does_not_schedule_plans_nothing_and_does_not_spin_over_it():
    make_due_job(schedule="@every 1h")
    assert make_housekeeper(schedule=False).step() == 5
    assert not Run.objects.exists()


def test_an_expired_lease_is_reclaimed_and_told():
    make_run(max_lost=1)
    (run,) = claim().runs
    Lease.objects.update(expires_at=now() - timedelta(seconds=1))
    housekeeper = make_housekeeper()
    with Signals(signals.lease_lost) as lost:
        assert housekeeper.step() == 0
    assert [(item["token"], item["outcome"], item["status"]) for item in lost.sent] == [
        (run.token, "reclaimed", "READY")
    ]
    assert Run.objects.get().lost == 1


def test_missed_instants_and_broken_schedules_are_told():
    make_due_job(name="late", schedule="@every 1m", catch_up="none", ago=timedelta(minutes=5))
    make_due_job(name="broken", schedule="nonsense")
    housekeeper = make_housekeeper()
    with Signals(signals.job_missed) as missed, Signals(signals.job_broken) as broken:
        housekeeper.step()
    assert {item["job_name"] for item in missed.sent} == {"late"}
    assert sum(item["count"] for item in missed.sent) >= 5
    assert [item["job_name"] for item in broken.sent] == ["broken"]


def test_a_waiting_run_wakes_the_dispatcher_at_each_look():
    make_run()
    housekeeper = make_housekeeper()
    housekeeper.step()
    housekeeper.step()
    assert housekeeper.woken.times == 2


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no row locks that could be skipped")
def test_a_due_job_that_somebody_holds_is_not_looked_at_again_and_again():
    make_due_job(schedule="@every 1h")
    other = connections.create_connection("default")
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute("SELECT id FROM leasejobs_job FOR UPDATE")
        assert STUCK_WAIT / 2 <= make_housekeeper().step() <= STUCK_WAIT + 0.1
    finally:
        other.rollback()
        other.close()


def test_chores_prune_history_and_forget_dead_workers_and_are_not_done_at_each_look():
    old = now() - timedelta(days=90)
    run = make_run(status=RunStatus.SUCCESSFUL, finished_at=old, created_at=old)
    make_worker(heartbeat_at=old)
    housekeeper = make_housekeeper(sync=False)
    housekeeper._next_chores = 0
    housekeeper.step()
    assert not Run.objects.filter(pk=run.pk).exists()
    assert not Worker.objects.exists()
    make_worker(heartbeat_at=old)
    housekeeper.step()
    assert Worker.objects.count() == 1
    assert not Job.objects.exists()


def test_it_measures_how_far_its_own_clock_is_off(monkeypatch):
    housekeeper = make_housekeeper()
    housekeeper.step()
    assert abs(housekeeper.clock_offset) < timedelta(seconds=5)


def test_a_sync_names_the_jobs_that_it_changed(caplog):
    caplog.set_level("INFO", "django_leasejobs")
    for number in range(23):
        make_job(name=f"old {number:02}", source=Source.CODE)

    sync_with_code()
    sync_with_code()

    (line,) = [record.getMessage() for record in caplog.records]
    named = ", ".join(f"old {number:02}" for number in range(20))
    assert line.endswith(f" updated=0 revived=0 retired=23 ({named} and 3 more)")
