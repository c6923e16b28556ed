"""I1: at most one lease for a run, and for a job whose runs must not overlap at most one for the job."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.finish import Report, finish_runs
from django_leasejobs.engine.outcomes import Succeeded
from django_leasejobs.models import Lease, Run, RunStatus
from tests.support.factories import claim, make_job, make_run, make_task, rng
from tests.support.sessions import Side, isolate

pytestmark = pytest.mark.django_db(transaction=True)


class Watch:
    """Notes who holds what between the commit of a claim and the start of its finish."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()
        self.claims: list[Claimed] = []
        self.broken: list[str] = []

    def took(self, run: Claimed, exclusive: bool) -> None:
        with self._lock:
            self.claims.append(run)
            for key in self._keys(run, exclusive):
                self._held[key] += 1
                if self._held[key] > 1:
                    self.broken.append(key)

    def gives(self, run: Claimed, exclusive: bool) -> None:
        with self._lock:
            self._held.subtract(self._keys(run, exclusive))

    @staticmethod
    def _keys(run: Claimed, exclusive: bool) -> list[str]:
        return [f"run {run.run_id}", *([f"job {run.job_id}"] if exclusive else [])]


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ"])
def test_workers_at_once_never_hold_the_same_run_or_two_runs_of_an_exclusive_job(isolation: str) -> None:
    """Also at MySQL's default level of isolation: every run is done once, and a deadlock ends nobody."""
    make_task()
    exclusive = {job.pk for job in (make_job(overlap="queue") for _ in range(4))}
    jobs = [*exclusive, *(make_job(overlap="allow").pk for _ in range(2))]
    for number in range(60):
        job_id = jobs[number % len(jobs)]
        make_run(job_id=job_id, exclusive=job_id in exclusive, origin="schedule")
    watch = Watch()

    def work() -> None:
        isolate(isolation)
        while Run.objects.filter(status__in=[RunStatus.READY, RunStatus.RUNNING]).exists():
            runs = claim(3).runs
            for run in runs:
                watch.took(run, run.job_id in exclusive)
            for run in runs:
                watch.gives(run, run.job_id in exclusive)
            finish_runs([Report(run=run, ending=Succeeded()) for run in runs], worker_name="w", rng=rng())

    for side in [Side(work) for _ in range(4)]:
        side.result()

    assert watch.broken == []
    assert (
        len(watch.claims) == len({run.run_id for run in watch.claims}) == len({run.token for run in watch.claims}) == 60
    )
    assert set(Run.objects.values_list("status", flat=True)) == {RunStatus.SUCCESSFUL}
    assert not Lease.objects.exists()
