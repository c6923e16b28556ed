"""Ten workers on one database, some of which die at any moment."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from datetime import timedelta
from random import Random

import pytest

from django_leasejobs.models import Job, Lease, Run, RunStatus
from tests.support.factories import now
from tests.support.processes import wait_until
from tests.support.testjobs.models import Effect

from .support import LEASE, VENDOR

pytestmark = pytest.mark.processes

WORKERS, JOBS, SECONDS = 10, 200, 30
SECOND = timedelta(seconds=1)


@pytest.mark.skipif(VENDOR != "postgresql", reason="the load is made for the database that several hosts share")
def test_each_due_instant_gets_one_row_and_one_effect_while_workers_are_killed(fleet):
    rng = Random(20261130)
    team = [fleet.start("--pool", "thread", concurrency=2, wait=False) for _ in range(WORKERS)]
    for worker in team:
        worker.wait_for_output(" started queues=", 60)
    start = now().replace(microsecond=0) + SECOND
    Job.objects.bulk_create(
        Job(
            name=f"every-second-{number}",
            task="t.atomic",
            schedule="@every 1s",
            lease=LEASE,
            catch_up=("latest", "all")[number % 2],
            overlap=("skip", "queue")[number // 2 % 2],
            next_run_at=start,
        )
        for number in range(JOBS)
    )
    kills = 0
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        time.sleep(rng.uniform(0.5, 2.5))
        victim = rng.randrange(WORKERS)
        team[victim].kill()
        kills += 1
        team[victim] = fleet.start("--pool", "thread", concurrency=2, wait=False)
    Job.objects.update(enabled=False, next_run_at=None)
    unfinished = Run.objects.filter(status__in=[RunStatus.READY, RunStatus.RUNNING])
    wait_until(lambda: not unfinished.exists(), 30, lambda: f"{unfinished.count()} unfinished")
    assert kills >= 10
    assert not Lease.objects.exists()
    assert_complete(start)
    print(kills, "kills;", Counter(Run.objects.values_list("status", flat=True)))


def assert_complete(start):
    """Each instant from the first to the last recorded one is in one row, and each success had one effect."""
    rows = defaultdict(list)
    for run in Run.objects.order_by("scheduled_for"):
        rows[run.job_id].append(run)
    for job in Job.objects.all():
        expected = start
        for run in rows[job.pk]:
            last = run.scheduled_until or run.scheduled_for
            assert run.scheduled_for == expected, f"{job} at {expected}"
            assert run.instants == (last - run.scheduled_for) / SECOND + 1
            expected = last + SECOND
        assert expected == job.planned_until + SECOND
        assert (job.planned_until - start) / SECOND > SECONDS * 0.8, f"{job} was planned to the end"
    succeeded = Run.objects.filter(status=RunStatus.SUCCESSFUL)
    assert succeeded.count() > JOBS
    effects = Counter(Effect.objects.values_list("run_id", flat=True))
    assert set(effects.values()) == {1}
    assert set(effects) == set(succeeded.values_list("pk", flat=True))
    assert Run.objects.filter(status=RunStatus.FAILED).count() == 0
