"""One call of every engine function, with something to do for it; runs them all when started as a program."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any


def everything() -> dict[str, Callable[[], Any]]:
    """Make the rows and return the calls, to be made in this order."""
    from django_leasejobs.engine import cancel, guard, reclaim, register
    from django_leasejobs.engine.complete import complete_atomically
    from django_leasejobs.engine.look import look_ahead
    from django_leasejobs.engine.outcomes import Raised
    from django_leasejobs.engine.plan import plan_jobs
    from django_leasejobs.engine.progress import record_progress
    from django_leasejobs.engine.prune import prune_runs
    from django_leasejobs.engine.renew import renew_leases
    from django_leasejobs.engine.retry import retry_run
    from django_leasejobs.engine.sync import sync_jobs
    from django_leasejobs.engine.trigger import Order, trigger_job

    from .factories import NOOP, claim, make_due_job, make_job, make_run, make_worker, rng
    from .rows import claimed_run, end, expire

    job = make_job(overlap="allow")
    make_due_job(overlap="allow")
    replaced = make_due_job(overlap="replace")
    claimed_run(replaced)
    lost, held, done, handed, asked = (claimed_run(job, retries=1) for _ in range(5))
    expire(lost)
    failed = claimed_run(job)
    end(failed, Raised("E"))
    make_run(job)
    worker = make_worker()
    return {
        "look_ahead": lambda: look_ahead(queues=(), tasks=(NOOP,)),
        "plan_jobs": plan_jobs,
        "claim_runs": lambda: claim(2),
        "renew_leases": lambda: renew_leases([held.token, done.token, 10**9], timeout=5),
        "record_progress": lambda: record_progress({held.token: {"done": 1}}),
        "save_state": lambda: guard.save_state(held, 1),
        "finish_runs": lambda: end(done, Raised("E")),
        "complete_atomically": lambda: complete_atomically(held, lambda: (1, "log")),
        "cancel_run": lambda: cancel.cancel_run(asked.run_id, reason="x"),
        "reclaim_leases": lambda: reclaim.reclaim_leases(rng=rng()),
        "release_lease": lambda: reclaim.release_lease(handed.token, reason="x", rng=rng()),
        "retry_run": lambda: retry_run(failed.run_id, reason="x"),
        "trigger_job": lambda: trigger_job(job.name, Order()),
        "trigger_job, replacing": lambda: trigger_job(replaced.name, Order()),
        "sync_jobs": lambda: sync_jobs([]),
        "prune_runs": lambda: prune_runs({"FAILED": timedelta(0)}),
        "beat": lambda: register.beat(worker.pk, clock_offset=None, stopping=False, timeout=5),
        "forget_dead_workers": register.forget_dead_workers,
        "deregister_worker": lambda: register.deregister_worker(worker.pk),
        "delete_jobs": lambda: cancel.delete_jobs([replaced.pk, job.pk], reason="x"),
    }


if __name__ == "__main__":
    import django

    django.setup()
    for name, act in everything().items():
        print(name, act())
