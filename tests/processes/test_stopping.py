"""A worker that is told to stop, or is killed."""

from __future__ import annotations

import signal
import time

import pytest

from django_leasejobs.models import RunStatus, Worker
from tests.support.processes import wait_until

from .support import effects, living, now_of, outcomes, postgres_stands_for_all, run_of, told, wait_for

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("pool", ["process", "thread"])
@postgres_stands_for_all
def test_a_stopped_worker_lets_its_run_end_and_renews_its_lease_meanwhile(fleet, pool):
    run = run_of("t.starts", kwargs={"seconds": 3})
    worker = fleet.start("--pool", pool)
    wait_until(lambda: effects(run), 20, lambda: worker.output)
    other = fleet.start("--pool", "thread")
    worker.terminate()
    assert worker.wait(10) == 0, worker.output
    assert now_of(run).status == RunStatus.SUCCESSFUL
    assert run.worker_name != "", worker.output
    assert (len(effects(run)), outcomes(run)) == (1, [])
    assert "claimed" not in other.output
    assert Worker.objects.count() == 1, "the stopped worker took its row away"
    wait_until(lambda: not living(worker.pid), 1, lambda: told(worker.pid))


def test_a_run_that_outlasts_the_shutdown_timeout_is_handed_back_and_finished_elsewhere(fleet):
    run = run_of("t.starts", kwargs={"seconds": 4}, max_lost=0)
    worker = fleet.start("--shutdown-timeout", "1")
    wait_until(lambda: effects(run), 20, lambda: worker.output)
    asked = time.monotonic()
    worker.terminate()
    wait_until(lambda: outcomes(run), 5, lambda: worker.output)
    assert time.monotonic() - asked < 2.5
    assert worker.wait(5) == 0, worker.output
    other = fleet.start()
    wait_for(run)
    assert outcomes(run) == ["released"]
    assert (run.failures, run.lost, len(effects(run))) == (0, 0, 2)
    assert f"run id={run.pk}" in other.output.lower()


@pytest.mark.parametrize("pool", ["process", "thread"])
@postgres_stands_for_all
def test_a_run_that_is_handed_back_has_stopped_before_another_worker_begins_it(fleet, pool):
    worker, other = fleet.start("--pool", pool, "--shutdown-timeout", "0"), fleet.start("--pool", pool)
    other.signal_tree(signal.SIGSTOP)
    run = run_of("t.tick", kwargs={"seconds": 2})
    wait_until(lambda: effects(run), 20, lambda: worker.output)
    other.signal_tree(signal.SIGCONT)
    worker.terminate()
    assert worker.wait(10) == 0, worker.output
    wait_for(run)
    tokens = [effect.token for effect in effects(run)]
    assert tokens == sorted(tokens)
    assert len(set(tokens)) == 2
    assert outcomes(run) == ["released"]


@postgres_stands_for_all
def test_a_second_signal_ends_the_worker_at_once(fleet):
    run = run_of("t.starts", kwargs={"seconds": 30})
    worker = fleet.start()
    wait_until(lambda: effects(run), 20, lambda: worker.output)
    worker.terminate()
    worker.wait_for_output("is stopping")
    worker.terminate()
    asked = time.monotonic()
    assert worker.wait(5) == 0, worker.output
    assert time.monotonic() - asked < 2
    assert (now_of(run).status, outcomes(run)) == (RunStatus.READY, ["released"])


@postgres_stands_for_all
def test_the_children_of_a_killed_worker_end_within_a_second(fleet):
    runs = [run_of("t.gil", kwargs={"seconds": 30}), run_of("t.stubborn", kwargs={"seconds": 30})]
    worker = fleet.start(concurrency=2)
    wait_until(lambda: all(now_of(run).status == RunStatus.RUNNING for run in runs))
    assert len(living(worker.pid)) > 2
    worker.kill()
    wait_until(lambda: not living(worker.pid), 1, lambda: told(worker.pid))


@postgres_stands_for_all
def test_a_stop_of_the_whole_group_lets_the_runs_end_too(fleet):
    run = run_of("t.starts", kwargs={"seconds": 2})
    worker = fleet.start()
    wait_until(lambda: effects(run), 20, lambda: worker.output)
    worker.signal_tree(signal.SIGTERM)
    assert worker.wait(10) == 0, worker.output
    assert now_of(run).status == RunStatus.SUCCESSFUL
