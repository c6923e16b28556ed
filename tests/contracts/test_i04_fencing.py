"""I4: whoever no longer holds the lease writes nothing; effects under the lease happen exactly once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.complete import complete_atomically
from django_leasejobs.engine.guard import guarded, save_state
from django_leasejobs.engine.outcomes import Died, Ending, HandedBack, Raised, Stopped, Succeeded
from django_leasejobs.engine.progress import record_progress
from django_leasejobs.engine.reclaim import reclaim_leases, release_lease
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.engine.transactions import in_short_transaction
from django_leasejobs.exceptions import LeaseLost
from django_leasejobs.models import Attempt, Calendar, Lease, Run, RunStatus
from tests.support.deaths import deaths_of
from tests.support.factories import claim, make_job, make_run, make_task, rng
from tests.support.rows import all_rows, claimed_run, end, expire, stored
from tests.support.sessions import Side

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
ENDINGS = [Succeeded("stale"), Raised("E"), Died("gone"), HandedBack("stop"), Stopped("asked")]


def taken_over() -> tuple[Claimed, Claimed]:
    """Return the claim of a stalled worker and that of the worker that took its run over."""
    stale = claimed_run(make_job())
    expire(stale)
    reclaim_leases(rng=rng())
    (fresh,) = claim(name="successor").runs
    assert fresh.run_id == stale.run_id
    return stale, fresh


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: type(ending).__name__)
def test_a_stalled_worker_cannot_end_a_run_that_was_taken_over(ending: Ending) -> None:
    stale, fresh = taken_over()
    before = all_rows()

    finished = end(stale, ending)

    assert (finished.recorded, len(finished.discarded)) == ((), 1)
    # Only the record of the lost attempt says that a result came too late.
    assert Attempt.objects.filter(late_result_at__isnull=False).update(late_result_at=None) == 1
    assert all_rows() == before
    end(fresh, Succeeded("fresh"))
    assert (stored(fresh).status, stored(fresh).result, stored(fresh).token) == ("SUCCESSFUL", "fresh", fresh.token)


def test_a_stalled_worker_can_neither_renew_nor_save_nor_show_progress_nor_release() -> None:
    stale, _ = taken_over()
    before = all_rows()

    assert renew_leases([stale.token], timeout=5).lost == {stale.token}
    with pytest.raises(LeaseLost):
        save_state(stale, {"stale": True})
    record_progress({stale.token: {"done": 99}})
    release_lease(stale.token, reason="x", rng=rng())

    assert all_rows() == before


def test_a_stalled_worker_has_no_effects_under_guard_or_atomic() -> None:
    stale, _ = taken_over()

    with pytest.raises(LeaseLost), guarded(stale):
        Calendar.objects.create(name="stale")
    with pytest.raises(LeaseLost):
        complete_atomically(stale, lambda: (Calendar.objects.create(name="stale").pk, ""))

    assert not Calendar.objects.exists()


@pytest.mark.parametrize("atomic", [True, False], ids=["atomic", "guard"])
def test_effects_and_success_are_both_there_or_neither_wherever_the_worker_dies(atomic: bool) -> None:
    run = claimed_run()

    def act() -> None:
        if atomic:
            complete_atomically(run, lambda: (Calendar.objects.create(name="effect").pk, ""))
        else:
            with guarded(run):
                Calendar.objects.create(name="effect")

    for _ in deaths_of(act):
        assert not Calendar.objects.exists()

    assert Calendar.objects.count() == 1
    assert Lease.objects.exists() is not atomic


def test_a_finish_that_dies_before_any_statement_leaves_the_lease_to_run_out() -> None:
    run = claimed_run(retries=1)

    assert len(list(deaths_of(lambda: end(run, Raised("E"))))) >= 4
    assert (stored(run).status, stored(run).failures) == (RunStatus.READY, 1)


def test_effects_happen_once_for_each_run_while_leases_are_taken_away_at_random() -> None:
    """An effect of its own name for each run: a double one breaks a unique index, a lost one is missing."""
    make_task()
    wanted = {f"effect {make_run(max_lost=10_000, backoff=timedelta(0)).pk}" for _ in range(30)}
    stop = threading.Event()

    def unfinished() -> bool:
        return Run.objects.filter(status__in=[RunStatus.READY, RunStatus.RUNNING]).exists()

    # Tried again after a deadlock, as everything of the engine is.
    @in_short_transaction
    def let_them_start() -> None:
        Run.objects.filter(status=RunStatus.READY).update(available_at=LONG_AGO)

    @in_short_transaction
    def let_run_out(tokens: list[int]) -> None:
        Lease.objects.filter(pk__in=tokens).update(expires_at=LONG_AGO)

    def work() -> None:
        while unfinished():
            let_them_start()
            for run in claim(3).runs:
                attempt(run)

    def attempt(run: Claimed) -> None:
        try:
            complete_atomically(run, effect(run))
        except (LeaseLost, OperationalError):
            # A deadlock is the job's own failure: its transaction is rolled back as a whole.
            assert len(end(run, Raised("lost")).recorded) <= 1

    def effect(run: Claimed) -> Callable[[], tuple[Any, str]]:
        return lambda: (Calendar.objects.create(name=f"effect {run.run_id}").pk, "")

    def take_away() -> None:
        while not stop.is_set():
            held = list(Lease.objects.values_list("pk", flat=True))
            let_run_out(held[::2])
            reclaim_leases(rng=rng())

    thief = Side(take_away)
    workers = [Side(work) for _ in range(2)]
    try:
        for worker in workers:
            worker.result()
    finally:
        stop.set()
    thief.result()

    done = Run.objects.filter(status=RunStatus.SUCCESSFUL)
    effects = set(Calendar.objects.values_list("name", flat=True))
    assert effects == {f"effect {pk}" for pk in done.values_list("pk", flat=True)}
    failed = Run.objects.exclude(status=RunStatus.SUCCESSFUL)
    assert effects | {f"effect {pk}" for pk in failed.values_list("pk", flat=True)} == wanted
    assert set(failed.values_list("error", flat=True)) <= {"lost"}
