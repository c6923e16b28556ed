"""Runs the shop's jobs as a worker does, in this process: claim, execute, finish."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django_leasejobs import trigger
from django_leasejobs.engine.finish import Report, finish_runs
from django_leasejobs.engine.sync import sync_jobs
from django_leasejobs.models import Run
from django_leasejobs.registry import registry
from django_leasejobs.worker.child_settings import Limits
from django_leasejobs.worker.execute import Channel, execute
from tests.support.factories import claim, rng

LIMITS = Limits(result=10_000, log=10_000)


def shop_run(name: str, **kwargs: Any) -> Run:
    """Trigger a job of the shop's code."""
    sync_jobs(definition for key, definition in registry.jobs.items() if key.startswith("shop."))
    return trigger(name, kwargs=kwargs or None)


def attempt(run: Run, *, on_progress: Callable[[int, Any], None] = lambda token, value: None) -> Run:
    """Let one attempt of a READY run happen; return the run as it is afterwards."""
    (claimed,) = claim(tasks=[run.task]).runs
    assert claimed.run_id == run.pk
    done = execute(claimed, Channel(claimed, on_progress), worker_name="tester", limits=LIMITS)
    if not done.committed:
        finish_runs([Report(run=claimed, ending=done.ending, log=done.log)], worker_name="tester", rng=rng())
    run.refresh_from_db()
    return run
