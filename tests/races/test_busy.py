from __future__ import annotations

import threading
from random import Random

import pytest

from django_leasejobs.engine.cancel import delete_jobs
from django_leasejobs.engine.edit import save_job
from django_leasejobs.engine.finish import Report, finish_runs
from django_leasejobs.engine.outcomes import Succeeded
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.engine.trigger import Order, trigger_job
from django_leasejobs.models import Job, Lease, Run, RunStatus
from tests.support.factories import claim, make_due_job, make_job, make_task, rng
from tests.support.sessions import Side, isolate

POLL = 0.01

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ"])
def test_workers_and_people_at_once_end_nobody_and_lose_nothing(isolation: str) -> None:
    """I8: at MySQL's default level too. A deadlock or a serialization failure is tried again, not raised."""
    make_task()
    due = [make_due_job(overlap="queue" if number % 2 else "allow") for number in range(40)]
    edited = [make_job(overlap="allow") for _ in range(5)]
    deleted = [make_job(overlap="allow") for _ in range(5)]
    stop = threading.Event()
    triggered: list[int] = []

    def work() -> None:
        isolate(isolation)
        while not stop.is_set() or claim_and_finish():
            plan_jobs(limit=7)
            if not claim_and_finish():
                stop.wait(POLL)  # as workers do; without it SQLite's one lock is hardly ever free

    def claim_and_finish() -> int:
        runs = claim(5).runs
        renew_leases([run.token for run in runs], timeout=5)
        finish_runs([Report(run=run, ending=Succeeded()) for run in runs], worker_name="w", rng=rng())
        return len(runs)

    def edit() -> None:
        isolate(isolation)
        random = Random(1)
        for job in deleted:
            for target in (random.choice(edited), job):
                triggered.append(trigger_job(target.name, Order()).pk)
            changed = Job.objects.get(pk=random.choice(due).pk)
            changed.description = "edited"
            save_job(changed)
            delete_jobs([job.pk], reason="deleted")

    workers = [Side(work) for _ in range(3)]
    editor = Side(edit)
    try:
        editor.result()
    finally:
        stop.set()
    for worker in workers:
        worker.result()

    planned = Run.objects.filter(origin="schedule")
    assert {job.pk for job in due} == set(planned.values_list("job_id", flat=True))
    assert set(planned.values_list("status", flat=True)) <= {RunStatus.SUCCESSFUL, RunStatus.SKIPPED}
    by_hand = Run.objects.filter(pk__in=triggered)
    assert set(by_hand.values_list("status", flat=True)) <= {RunStatus.SUCCESSFUL, RunStatus.CANCELLED}
    assert by_hand.count() == len(triggered) == 10
    assert not Lease.objects.exists()
