"""Workers, their children and their fork servers are killed and frozen at random moments."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from datetime import timedelta
from random import Random

import pytest

from django_leasejobs.models import Lease, Run, RunStatus
from tests.support.processes import wait_until

from .support import described, effects, job_of, living, now_of, postgres_stands_for_all, run_of

pytestmark = [pytest.mark.processes, postgres_stands_for_all]

SECONDS = 10
POOLS = ("process", "process", "thread")
PATIENT = {"max_lost": 1000, "retries": 100, "backoff": timedelta(seconds=0.1)}


def test_every_run_succeeds_with_its_effects_whatever_dies_or_freezes(fleet):
    rng = Random(4)
    team = [fleet.start("--pool", pool, concurrency=3, wait=False) for pool in POOLS]
    for worker in team:
        worker.wait_for_output(" started queues=", 60)
    job = job_of("t.atomic", overlap="allow")
    runs = []
    for _ in range(30):
        atomic, guarded = {"seconds": rng.choice([0, 0.1, 1])}, {"before": rng.choice([0, 0.5]), "inside": 0.2}
        for task, kwargs in (("t.atomic", atomic), ("t.guarded", guarded), ("t.resume", {"steps": 4})):
            runs.append(run_of(task, job=job, kwargs=kwargs, **PATIENT))
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        time.sleep(rng.uniform(0.1, 0.6))
        harm(rng, fleet, team, rng.randrange(len(team)))
    unfinished = Run.objects.exclude(status=RunStatus.SUCCESSFUL)
    wait_until(
        lambda: not unfinished.exists(), 60, lambda: "\n".join([*map(described, unfinished), *(w.output for w in team)])
    )
    assert not Lease.objects.exists()
    for run in runs:
        check_effects(now_of(run))
    for worker in team:
        assert worker.process.poll() is None
        assert "defect" not in worker.output


def harm(rng, fleet, team, position):
    """Kill a child, kill a worker and start another, or freeze one for a while."""
    worker = team[position]
    children = sorted(living(worker.pid) - {worker.pid})
    match rng.choice(["child", "child", "freeze", "worker"]):
        case "child" if children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(children), signal.SIGKILL)
        case "freeze":
            worker.signal_tree(signal.SIGSTOP)
            time.sleep(rng.uniform(0.1, 2.5))
            worker.signal_tree(signal.SIGCONT)
        case "worker":
            worker.kill()
            team[position] = fleet.start("--pool", POOLS[position], concurrency=3, wait=False)


def check_effects(run):
    """An atomic job's effect is there once, a resumed one's steps once each, a guarded one's once."""
    words = [effect.word for effect in effects(run)]
    tokens = [effect.token for effect in effects(run)]
    if run.task == "t.resume":
        assert words == ["step 1", "step 2", "step 3", "step 4"], described(run)
    elif run.task == "t.atomic":
        assert (words, tokens) == (["atomic"], [run.token]), described(run)
    else:
        assert words == ["guarded"], described(run)
