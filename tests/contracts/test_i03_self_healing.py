"""I3: a run whose worker died runs again as soon as its lease is over; one handed back waits again at once."""

from __future__ import annotations

import pytest

from django_leasejobs.engine.look import look_ahead
from django_leasejobs.engine.outcomes import HandedBack
from django_leasejobs.engine.reclaim import reclaim_leases
from django_leasejobs.models import Lease, RunStatus, Worker
from tests.support.deaths import deaths_of
from tests.support.factories import NOOP, claim, make_job, make_run, make_task, make_worker, rng
from tests.support.rows import claimed_batch, claimed_run, end, expire, stored

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_run_of_a_dead_worker_runs_again_with_one_step_of_any_other() -> None:
    make_task()
    dead = make_worker()
    run = make_run(make_job())
    (old,) = claim(worker=dead).runs
    expire(old)
    Worker.objects.all().delete()

    assert look_ahead(queues=(), tasks=(NOOP,)).can_reclaim
    reclaim_leases(rng=rng())
    (new,) = claim(name="survivor").runs

    assert (new.run_id, new.attempt) == (run.pk, 2)
    assert new.token > old.token
    assert stored(run).worker_name == "survivor"


def test_a_run_handed_back_is_taken_up_at_once_and_no_attempt_is_burned() -> None:
    run = claimed_run(make_job(), retries=0, max_lost=0)

    for _ in range(5):
        end(run, HandedBack("the worker stops"))
        (again,) = claim().runs
        assert (again.run_id, again.attempt) == (run.run_id, 1)
        run = again


def test_a_claim_that_dies_before_any_statement_leaves_the_run_to_others() -> None:
    make_task()
    run = make_run(make_job())

    deaths = list(deaths_of(claim))

    assert len(deaths) >= 4
    assert (stored(run).status, Lease.objects.count()) == (RunStatus.RUNNING, 1)


def test_a_reclaim_that_dies_before_any_statement_leaves_the_leases_to_others() -> None:
    runs = claimed_batch(3)
    expire(*runs)

    deaths = list(deaths_of(lambda: reclaim_leases(rng=rng())))

    assert len(deaths) >= 4
    assert [stored(run).lost for run in runs] == [1, 1, 1]
    assert not Lease.objects.exists()
