from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import DataError, OperationalError, connection, connections

from django_leasejobs import signals
from django_leasejobs.engine.finish import Report
from django_leasejobs.engine.outcomes import Raised, Stopped, Succeeded
from django_leasejobs.models import Job, Lease, Run, RunStatus
from django_leasejobs.worker import dispatcher as dispatcher_module
from django_leasejobs.worker.book import LeaseBook
from django_leasejobs.worker.dispatcher import CONTENDED_PAUSE, FOR_EVER, LONGEST_CONTENDED_PAUSE, Dispatcher
from django_leasejobs.worker.ticks import ticks
from tests.support.factories import make_job, make_run, make_task, now, rng

from .support import NotingPool, Signals, options

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _a_task():
    make_task()


def make_dispatcher(*, room=2, **values):
    dispatcher = Dispatcher(options(**values), LeaseBook(), rng=rng())
    dispatcher.pool = NotingPool(room)
    return dispatcher


def refusing(execute, sql, params, many, context):
    """Take no accents, as a database of another encoding takes no emoji."""
    if re.search("\xe9|u00e9", repr(params)):
        raise DataError("invalid value")
    return execute(sql, params, many, context)


def ended(dispatcher, run, ending=None):
    dispatcher.pool.taken.remove(run)
    dispatcher.ended(Report(run=run, ending=ending or Succeeded()))


def test_it_claims_what_there_is_room_for_and_enters_the_claims_before_they_start():
    for _ in range(3):
        make_run()
    dispatcher = make_dispatcher()
    before = ticks()
    with Signals(signals.run_started) as started:
        assert dispatcher.step() == FOR_EVER
    assert len(dispatcher.pool.taken) == len(started.sent) == 2
    assert dispatcher._book.tokens() == [run.token for run in dispatcher.pool.taken]
    assert before + 20 <= dispatcher._book.next_renewal() <= ticks() + 20
    assert Run.objects.filter(status=RunStatus.READY).count() == 1


def test_a_full_pool_costs_no_statement(django_assert_num_queries):
    dispatcher = make_dispatcher(room=0)
    with django_assert_num_queries(0):
        assert dispatcher.step() == FOR_EVER


def test_an_end_is_recorded_before_its_slot_is_filled_again():
    make_run()
    dispatcher = make_dispatcher(room=1)
    dispatcher.step()
    (run,) = dispatcher.pool.taken
    make_run()
    ended(dispatcher, run)
    assert not dispatcher.settled
    with Signals(signals.run_finished) as finished:
        dispatcher.step()
    assert dispatcher.settled
    assert Run.objects.get(pk=run.run_id).status == RunStatus.SUCCESSFUL
    assert [(item["run_id"], item["status"]) for item in finished.sent] == [(run.run_id, "SUCCESSFUL")]
    assert [taken.run_id for taken in dispatcher.pool.taken] != [run.run_id]
    assert len(dispatcher._book) == 1


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        (Succeeded("caf\xe9"), RunStatus.SUCCESSFUL),
        (Raised("caf\xe9 a", "line 1\nline 2"), RunStatus.FAILED),
        (Stopped("caf\xe9"), RunStatus.CANCELLED),
    ],
)
def test_an_end_that_the_database_refuses_is_recorded_in_plain_words_and_holds_up_no_other(ending, status):
    make_run()
    make_run()
    dispatcher = make_dispatcher()
    dispatcher.step()
    good, bad = dispatcher.pool.taken
    ended(dispatcher, bad, ending)
    ended(dispatcher, good)

    with connection.execute_wrapper(refusing):
        dispatcher.step()
    assert dispatcher.settled
    assert len(dispatcher._book) == 0
    assert Run.objects.get(pk=good.run_id).status == RunStatus.SUCCESSFUL
    row = Run.objects.get(pk=bad.run_id)
    assert (row.status, row.result) == (status, None)
    assert "The database refused what there was to record, only this is kept: invalid value" in row.log
    assert not Lease.objects.exists()


def test_a_progress_that_the_database_refuses_holds_up_no_end(caplog):
    make_run()
    dispatcher = make_dispatcher()
    dispatcher.step()
    (run,) = dispatcher.pool.taken
    ended(dispatcher, run)
    dispatcher.progressed(run.token, {"message": "caf\xe9"})

    with connection.execute_wrapper(refusing):
        dispatcher.step()
    assert Run.objects.get(pk=run.run_id).status == RunStatus.SUCCESSFUL
    assert "Progress of 1 runs is not shown: invalid value" in caplog.text


def test_an_end_that_could_not_be_written_is_kept_and_written_later(monkeypatch):
    make_run()
    dispatcher = make_dispatcher()
    dispatcher.step()
    (run,) = dispatcher.pool.taken
    ended(dispatcher, run)
    with monkeypatch.context() as broken:
        broken.setattr(connection, "ensure_connection", lambda: (_ for _ in ()).throw(OperationalError("gone")))
        connection.close()
        with pytest.raises(OperationalError):
            dispatcher.step()
    assert not dispatcher.settled
    dispatcher.step()
    assert dispatcher.settled
    assert Run.objects.get(pk=run.run_id).status == RunStatus.SUCCESSFUL


def test_a_result_that_comes_too_late_is_told_and_changes_nothing():
    make_run()
    dispatcher = make_dispatcher()
    dispatcher.step()
    (run,) = dispatcher.pool.taken
    Lease.objects.all().delete()
    ended(dispatcher, run)
    with Signals(signals.lease_lost) as lost:
        dispatcher.step()
    assert [(item["token"], item["outcome"]) for item in lost.sent] == [(run.token, "discarded")]
    assert Run.objects.get(pk=run.run_id).status == RunStatus.RUNNING
    assert len(dispatcher._book) == 0


def test_a_success_that_a_job_recorded_itself_is_told_without_a_statement(django_assert_num_queries):
    make_run()
    dispatcher = make_dispatcher(room=1)
    dispatcher.step()
    (run,) = dispatcher.pool.taken
    dispatcher.committed(Report(run=run, ending=Succeeded()))
    with Signals(signals.run_finished) as finished, django_assert_num_queries(0):
        dispatcher.step()
    assert finished.sent[0]["status"] == "SUCCESSFUL"
    assert (len(dispatcher._book), dispatcher.settled) == (0, True)


def test_max_runs_ends_the_claiming():
    for _ in range(5):
        make_run()
    dispatcher = make_dispatcher(room=5, max_runs=3)
    dispatcher.step()
    assert len(dispatcher.pool.taken) == 3
    assert dispatcher.used_up
    assert dispatcher.step() == FOR_EVER
    assert Run.objects.filter(status=RunStatus.READY).count() == 2


def test_runs_that_come_too_late_do_not_hold_up_those_behind_them():
    earlier = now() - timedelta(hours=1)
    job = make_job(name="late", overlap="allow")
    for _ in range(5):
        make_run(job, start_before=earlier, available_at=earlier)
    last = make_run()
    dispatcher = make_dispatcher(room=1)
    with Signals(signals.job_missed) as missed:
        waits = [dispatcher.step() for _ in range(6)]
    assert [(item["job_name"], item["first"], item["count"]) for item in missed.sent] == [("late", earlier, 1)] * 5
    assert waits == [0.0] * 5 + [FOR_EVER]
    assert [run.run_id for run in dispatcher.pool.taken] == [last.pk]
    assert Run.objects.filter(status=RunStatus.MISSED).count() == 5


def test_after_stop_claiming_ends_are_still_recorded():
    make_run()
    dispatcher = make_dispatcher()
    dispatcher.step()
    (run,) = dispatcher.pool.taken
    make_run()
    dispatcher.stop_claiming()
    ended(dispatcher, run)
    assert dispatcher.step() == FOR_EVER
    assert dispatcher.settled
    assert Run.objects.filter(status=RunStatus.READY).count() == 1


def test_only_the_newest_progress_of_a_run_is_written():
    make_run()
    dispatcher = make_dispatcher()
    dispatcher.step()
    (run,) = dispatcher.pool.taken
    for done in range(3):
        dispatcher.progressed(run.token, {"done": done})
    dispatcher.step()
    assert Lease.objects.get().progress == {"done": 2}


def test_a_job_with_too_many_failures_is_paused_and_told():
    job = make_job(pause_after_failures=1)
    make_run(job)
    dispatcher = make_dispatcher()
    dispatcher.step()
    ended(dispatcher, dispatcher.pool.taken[0], Raised("it broke"))
    with Signals(signals.job_paused) as paused:
        dispatcher.step()
    assert [item["job_name"] for item in paused.sent] == [job.name]
    assert Job.objects.get().paused_at is not None


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no row locks that could be skipped")
def test_rows_that_somebody_holds_are_not_asked_for_again_and_again():
    job = make_job()
    make_run(job)
    dispatcher = make_dispatcher()
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            other.set_autocommit(False)
            cursor.execute("SELECT id FROM leasejobs_job FOR UPDATE")
        pause = dispatcher.step()
        assert CONTENDED_PAUSE / 2 <= pause <= CONTENDED_PAUSE * 2
        calls = []
        for _ in range(20):
            dispatcher._claim_after = 0.0
            calls.append(dispatcher.step())
        assert max(calls) <= LONGEST_CONTENDED_PAUSE
        assert max(calls) >= LONGEST_CONTENDED_PAUSE / 2
        with pytest.MonkeyPatch.context() as watch:
            watch.setattr(
                dispatcher_module, "claim_runs", lambda **_: pytest.fail("it asked before its pause was over")
            )
            assert 0 < dispatcher.step() <= LONGEST_CONTENDED_PAUSE
    finally:
        other.rollback()
        other.close()
    dispatcher._claim_after = 0.0
    dispatcher.step()
    assert len(dispatcher.pool.taken) == 1
