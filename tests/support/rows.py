"""Looks at rows and moves them in time, since nobody can move the database's clock."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.finish import Finished, Report, finish_runs
from django_leasejobs.engine.outcomes import Ending
from django_leasejobs.models import Attempt, Job, Lease, Run, Worker

from .factories import claim, make_job, make_run, make_task, now, rng

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


def claimed_run(job: Job | None = None, **values: Any) -> Claimed:
    """Insert a run and claim it."""
    make_task()
    run = make_run(job, **values)
    return claimed(run)


def claimed(run: Run) -> Claimed:
    """Claim this very run, which must be the only one that waits."""
    (got,) = claim().runs
    assert got.run_id == run.pk
    return got


def claimed_batch(count: int, **values: Any) -> tuple[Claimed, ...]:
    """Insert and claim runs of as many jobs, the half of them exclusive."""
    make_task()
    for number in range(count):
        make_run(make_job(overlap="allow" if number % 2 else "skip"), **values)
    got = claim(count).runs
    assert len(got) == count
    return got


def expire(*runs: Claimed, ago: timedelta = SECOND) -> None:
    """Let the leases of these runs have run out some time ago."""
    Lease.objects.filter(pk__in=[run.token for run in runs]).update(expires_at=now() - ago)


def end(run: Claimed, ending: Ending, *, log: str = "") -> Finished:
    """Finish one run as its worker does."""
    return finish_runs([Report(run=run, ending=ending, log=log)], worker_name="tester", rng=rng())


def stored(run: Claimed | Run) -> Run:
    """Read a run's row anew."""
    return Run.objects.get(pk=run.pk if isinstance(run, Run) else run.run_id)


def all_rows() -> dict[str, list[dict[str, Any]]]:
    """Return every row of every table that the engine writes, to show that nothing changed."""
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in (Job, Run, Lease, Attempt, Worker)}
