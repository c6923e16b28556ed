"""Jobs and workers that die."""

from __future__ import annotations

import itertools
import os
import signal
import time
from datetime import timedelta
from pathlib import Path

import pytest

from django_leasejobs.models import Job, Lease, Run, RunStatus, Worker
from tests.support.factories import make_due_job, now
from tests.support.processes import wait_until

from .support import (
    LEASE,
    described,
    effects,
    job_of,
    living,
    now_of,
    outcomes,
    postgres_stands_for_all,
    run_of,
    wait_for,
)  # fmt: skip

pytestmark = pytest.mark.processes

POLL = 0.2


def test_the_run_of_a_killed_worker_goes_on_elsewhere_within_a_lease_and_a_poll(fleet):
    workers = {name: fleet.start("--name", name) for name in ("one", "two")}
    run = run_of("t.starts", kwargs={"seconds": 2})
    wait_until(lambda: effects(run), 20, lambda: "".join(worker.output for worker in workers.values()))
    holder = now_of(run).worker_name
    workers.pop(holder).kill()
    (second,) = workers.values()
    # Whatever else is left of it, its leases expire by themselves.
    Worker.objects.filter(name=holder).delete()
    expires_at = Lease.objects.get(run=run).expires_at
    wait_until(lambda: len(effects(run)) == 2, 10, lambda: second.output)
    took = (now() - expires_at).total_seconds()
    print(f"recovered {took:.2f} s after the lease ended")
    assert took < POLL + 1
    wait_for(run)
    assert (outcomes(run), run.lost, run.failures) == (["lost"], 1, 0)
    assert "its lease expired and was ended" in second.output
    assert not Lease.objects.exists()


@postgres_stands_for_all
def test_a_job_that_takes_its_process_along_each_time_is_given_up_and_others_run_meanwhile(fleet):
    deadly = run_of("t.die", max_lost=1, backoff=timedelta(0))
    worker = fleet.start(concurrency=2)
    others = [run_of("t.effect") for _ in range(5)]
    wait_for(deadly, RunStatus.FAILED)
    assert outcomes(deadly) == ["lost", "lost"]
    assert "lost its lease 2 times, with 1 loss allowed" in deadly.reason
    assert "exit code 9" in deadly.reason
    for other in others:
        wait_for(other)
    assert worker.process.poll() is None
    later = run_of("t.effect")
    wait_for(later)


@postgres_stands_for_all
def test_a_job_that_takes_its_whole_worker_along_each_time_is_given_up(fleet):
    deadly = run_of("t.kill", max_lost=1, backoff=timedelta(0))
    for _ in range(2):
        worker = fleet.start("--pool", "thread", wait=False)
        assert worker.wait() == -9
    survivor = fleet.start("--pool", "thread")
    wait_for(deadly, RunStatus.FAILED)
    assert "lost its lease 2 times, with 1 loss allowed" in deadly.reason
    other = run_of("t.effect")
    wait_for(other)
    assert survivor.process.poll() is None


@postgres_stands_for_all
def test_a_worker_whose_fork_server_is_killed_gets_new_children(fleet):
    run = run_of("t.starts", kwargs={"seconds": 1})
    worker = fleet.start()
    wait_until(lambda: effects(run), 20, lambda: worker.output)
    (server,) = [
        pid
        for pid in living(worker.pid)
        if "forkserver" in Path(f"/proc/{pid}/cmdline").read_text()[:200] and parent_of(pid) == worker.pid
    ]
    os.kill(server, signal.SIGKILL)
    wait_for(run)
    assert (outcomes(run), len(effects(run))) == (["lost"], 2)
    assert worker.process.poll() is None


def parent_of(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@postgres_stands_for_all
def test_a_job_that_dies_in_its_first_attempts_only_succeeds(fleet):
    run = run_of("t.die_first", kwargs={"times": 1})
    fleet.start()
    wait_for(run)
    assert (outcomes(run), run.lost, [effect.word for effect in effects(run)]) == (["lost"], 1, ["attempt 2"])


@postgres_stands_for_all
def test_a_forked_copy_of_a_process_ends_with_the_job_that_made_it(fleet):
    run = run_of("t.fork")
    fleet.start()
    wait_for(run)
    assert (run.result, run.lost) == (0, 0)


@pytest.mark.parametrize("task", ["t.effect", "t.gil"])
@postgres_stands_for_all
def test_a_timeout_kills_the_attempt_and_counts_as_a_failure(fleet, task):
    run = run_of(task, kwargs={"seconds": 30}, timeout=timedelta(seconds=1))
    worker = fleet.start()
    wait_until(lambda: now_of(run).status == RunStatus.RUNNING)
    wait_for(run, RunStatus.FAILED, timeout=5)
    took = (run.finished_at - run.started_at).total_seconds()
    assert 1 <= took < 2, described(run)
    assert (outcomes(run), run.failures, run.lost) == (["timed_out"], 1, 0)
    assert "timeout of 1 s" in run.error
    assert effects(run) == []
    assert worker.process.poll() is None


@postgres_stands_for_all
def test_a_run_that_blocks_its_process_holds_up_nothing_else_whatever_waits_behind_it(fleet):
    """The worker must not wait for a child that can't read its pipe, which large arguments would fill."""
    job = job_of("t.quick", overlap="allow")
    fleet.start("--poll-interval", "0.02")
    # After these the child may hold runs ahead.
    quick = [run_of("t.quick", job=job) for _ in range(20)]
    wait_until(lambda: all(now_of(run).status == RunStatus.SUCCESSFUL for run in quick))
    stuck = run_of("t.gil", kwargs={"seconds": 30}, timeout=timedelta(seconds=1))
    wait_until(lambda: now_of(stuck).status == RunStatus.RUNNING, every=0.001)
    heavy = [run_of("t.quick", job=job, kwargs={"blob": "x" * 1_000_000}) for _ in range(3)]
    wait_for(stuck, RunStatus.FAILED, timeout=5)
    for run in heavy:
        wait_for(run)
    took = (stuck.finished_at - stuck.started_at).total_seconds()
    assert 1 <= took < 3, described(stuck)


@postgres_stands_for_all
def test_a_timeout_in_the_thread_pool_ends_python_code_that_swallows_every_exception(fleet):
    run = run_of("t.stubborn", kwargs={"seconds": 30}, timeout=timedelta(seconds=1))
    fleet.start("--pool", "thread")
    wait_for(run, RunStatus.FAILED)
    assert (outcomes(run), effects(run)) == (["timed_out"], [])
    other = run_of("t.effect")
    wait_for(other)


def test_a_job_much_longer_than_its_lease_runs_once_even_while_it_lets_no_other_thread_run(fleet):
    workers = [fleet.start(), fleet.start()]
    run = run_of("t.gil", kwargs={"seconds": 5})
    ends = []

    def is_over():
        for lease in Lease.objects.filter(run=run):
            if not ends or ends[-1][1] != lease.expires_at:
                ends.append((time.monotonic(), lease.expires_at))
        return now_of(run).status == RunStatus.SUCCESSFUL

    wait_until(is_over, 20, lambda: "".join(worker.output for worker in workers))
    assert (len(effects(run)), outcomes(run), run.lost) == (1, [], 0)
    moved = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(ends)]
    assert len(ends) >= 5
    assert max(moved) <= LEASE.total_seconds() / 2, moved
    assert Lease.objects.count() == 0


def test_a_failing_job_keeps_its_schedule(fleet):
    job = make_due_job(name="fails", task="t.fail", schedule="@every 1s", lease=LEASE)
    worker = fleet.start()
    runs = Run.objects.filter(job=job, scheduled_for__gte=now())
    wait_until(lambda: runs.filter(status=RunStatus.FAILED).count() >= 3, 20, lambda: worker.output)
    Job.objects.update(enabled=False, next_run_at=None)
    ended = list(Run.objects.filter(job=job, status=RunStatus.FAILED).order_by("scheduled_for"))
    first, last = ended[0].scheduled_for, ended[-1].scheduled_for
    # On a busy machine an instant may be SKIPPED or MISSED; none is without a row.
    rows = Run.objects.filter(job=job, scheduled_for__range=(first, last))
    assert sum(rows.values_list("instants", flat=True)) == (last - first) / timedelta(seconds=1) + 1
    assert {run.error for run in ended} == {"RuntimeError: it failed on purpose"}
    assert all("in fail" in run.traceback for run in ended)
    assert all("failed once, with no retries allowed" in run.reason for run in ended)


@postgres_stands_for_all
def test_a_resumed_job_goes_on_where_its_last_attempt_ended(fleet):
    run = run_of("t.resume", kwargs={"steps": 4, "die_at": 3})
    fleet.start()
    wait_for(run)
    assert [effect.word for effect in effects(run)] == ["step 1", "step 2", "step 3", "step 4"]
    assert outcomes(run) == ["lost"]
