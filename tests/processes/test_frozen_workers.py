"""Workers that stand still for longer than their leases, and wake up again."""

from __future__ import annotations

import signal
import time
from datetime import timedelta

import pytest
from django.db import transaction

from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.models import Job, Lease, Run, RunStatus
from tests.support.factories import make_due_job
from tests.support.processes import wait_until
from tests.support.testjobs.models import Effect

from .support import LEASE, described, effects, needs_several_writers, now_of, outcomes, run_of, wait_for

pytestmark = pytest.mark.processes


def test_a_frozen_worker_that_wakes_up_changes_nothing_of_a_run_that_was_taken_over(fleet):
    run = run_of("t.effect", kwargs={"seconds": 3})
    first = fleet.start()
    wait_until(lambda: now_of(run).status == RunStatus.RUNNING, 20, lambda: first.output)
    time.sleep(0.5)
    first.signal_tree(signal.SIGSTOP)
    second = fleet.start()
    wait_until(lambda: outcomes(run) == ["lost"] and now_of(run).status == RunStatus.RUNNING, 10, lambda: second.output)
    held = Lease.objects.get(run=run)
    first.signal_tree(signal.SIGCONT)
    first.wait_for_output("lost its lease", 10)
    lease = Lease.objects.get(run=run)
    assert (lease.token, lease.duration) == (held.token, LEASE)
    assert now_of(run).token == held.token
    wait_for(run)
    assert run.token == held.token
    assert (outcomes(run), run.lost, run.failures) == (["lost"], 1, 0)
    assert first.output.count("lost its lease") == 1, first.output
    second.kill()
    again = run_of("t.effect")
    wait_for(again)
    assert first.process.poll() is None


@needs_several_writers
def test_no_effect_is_doubled_when_a_worker_stands_still_for_three_leases_in_guarded_and_atomic_jobs(fleet):
    guarded = [run_of("t.guarded", kwargs={"before": 0.4 * n, "inside": 0.3 * n}) for n in range(4)]
    atomic = [run_of("t.atomic", kwargs={"seconds": 0.5 * n}) for n in range(4)]
    runs = guarded + atomic
    first = fleet.start(concurrency=8)
    wait_until(lambda: not Run.objects.filter(status=RunStatus.READY).exists(), 20, lambda: first.output)
    time.sleep(0.3)
    first.signal_tree(signal.SIGSTOP)
    second = fleet.start(concurrency=8)
    time.sleep(3 * LEASE.total_seconds())
    first.signal_tree(signal.SIGCONT)
    for run in runs:
        wait_for(run, timeout=30)
        assert len(effects(run)) == 1, described(run)
    for run in atomic:
        assert effects(run)[0].token == run.token
    taken_over = sum(bool(outcomes(run)) for run in runs)
    assert taken_over >= 1, second.output
    assert "lost its lease" in first.output


def test_a_frozen_job_does_not_write_under_a_guard_that_it_lost(fleet):
    run = run_of("t.guarded", kwargs={"before": 1.5})
    first = fleet.start("--pool", "thread")
    wait_until(lambda: now_of(run).status == RunStatus.RUNNING, 20, lambda: first.output)
    time.sleep(0.3)
    first.signal_tree(signal.SIGSTOP)
    fleet.start("--pool", "thread")
    wait_for(run)
    first.signal_tree(signal.SIGCONT)
    first.wait_for_output("lost its lease", 10)
    again = run_of("t.guarded")
    wait_for(again)
    assert (len(effects(run)), outcomes(run)) == (1, ["lost"])


def test_a_plan_that_commits_late_neither_moves_a_cursor_back_nor_doubles_an_instant(fleet):
    job = make_due_job(task="t.effect", schedule="@every 1s", lease=LEASE, ago=timedelta(seconds=1))
    cursors = []

    def look():
        cursors.append(Job.objects.get(pk=job.pk).next_run_at)
        return Run.objects.filter(job=job, status=RunStatus.SUCCESSFUL).count() >= 3

    worker = fleet.start("--pool", "thread")
    wait_until(look, 20, lambda: worker.output)
    with transaction.atomic():
        plan_jobs()
        time.sleep(2.5)
    done = Run.objects.filter(job=job, status=RunStatus.SUCCESSFUL).count()
    wait_until(lambda: look() and Run.objects.filter(job=job, status=RunStatus.SUCCESSFUL).count() >= done + 2, 20)
    assert cursors == sorted(cursors)
    spans = sorted(Run.objects.filter(job=job).values_list("scheduled_for", "scheduled_until", "instants"))
    following = [(until or first) + timedelta(seconds=1) for first, until, _ in spans]
    assert [first for first, _, _ in spans[1:]] == following[:-1]
    assert Effect.objects.values("slot").distinct().count() == Effect.objects.count()
