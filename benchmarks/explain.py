"""Shows the database's plans and times of what workers ask all the time, with many jobs and a long history.

Empties the job tables of the database of DATABASE_URL first and afterwards: give it one of its own.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from random import Random
from typing import Any


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks explain", description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--finished", type=int, default=1_000_000, help="runs of the last 60 days")
    parser.add_argument("--waiting", type=int, default=1_000)
    parser.add_argument("--deferred", type=int, default=10_000)
    parser.add_argument("--running", type=int, default=2_000)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--plans", action="store_true", help="print the plans too")
    options = parser.parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings")
    import django

    django.setup()
    from django.core.management import call_command

    from tests.support.volume import empty, fill

    call_command("migrate", verbosity=0)
    empty()
    started = time.monotonic()
    fill(
        jobs=options.jobs, finished=options.finished, waiting=options.waiting, deferred=options.deferred,
        running=options.running,
    )  # fmt: skip
    print(f"Filled in {time.monotonic() - started:.1f} s: {options.jobs} jobs, {options.finished} finished runs.")
    try:
        for name, act in operations().items():
            show(name, act, options.repeat, plans=options.plans)
    finally:
        empty()


def operations() -> dict[str, Callable[[], Any]]:
    """Return what to measure; each is rolled back."""
    from django_leasejobs.engine.claim import claim_runs
    from django_leasejobs.engine.look import look_ahead
    from django_leasejobs.engine.plan import plan_jobs
    from django_leasejobs.engine.prune import prune_runs
    from django_leasejobs.engine.reclaim import reclaim_leases

    def claim(*queues: str) -> Callable[[], Any]:
        return lambda: claim_runs(worker_id=None, worker_name="b", queues=queues, tasks=["tests.noop"], limit=4)

    return {
        "look": lambda: look_ahead(queues=(), tasks=["tests.noop"]),
        "claim of all queues": claim(),
        "claim of one queue": claim("queue 3"),
        "plan of 10 jobs": lambda: plan_jobs(limit=10),
        "reclaim of 10 leases": lambda: reclaim_leases(rng=Random(1), limit=10),
        "prune of 100 runs": lambda: prune_runs({"SUCCESSFUL": timedelta(days=7)}, limit=100),
    }


def show(name: str, act: Callable[[], Any], repeat: int, *, plans: bool) -> None:
    """Print the median time of an operation and, if asked for, the plans of its statements."""
    from django.db import connection, transaction
    from django.test.utils import CaptureQueriesContext

    from tests.support.volume import explain

    seconds = []
    for _ in range(repeat):
        with transaction.atomic():
            started = time.perf_counter()
            act()
            seconds.append(time.perf_counter() - started)
            transaction.set_rollback(True)
    print(f"{name:<24}{sorted(seconds)[repeat // 2] * 1000:8.2f} ms")
    if plans:
        with CaptureQueriesContext(connection) as queries, transaction.atomic():
            act()
            transaction.set_rollback(True)
        for query in queries:
            if query["sql"].startswith("SELECT") and "pg_notify" not in query["sql"]:
                print(explain(query["sql"]), end="\n\n")
