from __future__ import annotations

import os
from typing import TYPE_CHECKING

from django_leasejobs.worker.child_settings import ChildSettings

from .base import Pool, PoolEvents
from .process import ProcessPool
from .thread import ThreadPool

if TYPE_CHECKING:
    from django_leasejobs.worker.options import WorkerOptions


def make_pool(options: WorkerOptions, events: PoolEvents) -> Pool:
    """Build the pool that the options name."""
    if options.pool == "thread":
        return ThreadPool(options.concurrency, worker_name=options.name, limits=options.limits, events=events)
    settings = ChildSettings(
        worker_name=options.name,
        limits=options.limits,
        settings_module=os.environ.get("DJANGO_SETTINGS_MODULE", ""),
        environment=dict(os.environ),
    )
    return ProcessPool(options.concurrency, settings=settings, events=events)


__all__ = ["Pool", "PoolEvents", "make_pool"]
