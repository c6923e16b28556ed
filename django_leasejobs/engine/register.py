"""Worker rows: hello, heartbeat, goodbye."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow, database_now
from django_leasejobs.models import Worker
from django_leasejobs.policies.health import is_alive
from django_leasejobs.version import __version__

from .transactions import alias, in_short_transaction, short_transaction

DEAD_ROWS_KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerIdentity:
    """What a worker says of itself."""

    name: str
    host: str
    pid: int
    pool: str
    concurrency: int
    queues: tuple[str, ...]
    tasks: tuple[str, ...]
    heartbeat_every: timedelta


@in_short_transaction
def register_worker(identity: WorkerIdentity) -> int:
    """Insert the worker's row; return its id. The rows of silent workers of the same name go: it replaces them.

    Locks: the rows of that name, by key. Beside it: the heartbeat of one that was only slow finds no row and registers.
    """
    using = alias()
    namesakes = vendor.lock(Worker.objects.using(using).filter(name=identity.name).order_by("pk"))
    known = {worker.pk: worker for worker in namesakes}
    now = database_now(using)
    silent = [pk for pk, worker in known.items() if not is_alive(worker, now)]
    Worker.objects.using(using).filter(pk__in=silent).delete()
    worker = Worker(
        name=identity.name,
        host=identity.host,
        pid=identity.pid,
        version=__version__,
        pool=identity.pool,
        concurrency=identity.concurrency,
        queues=list(identity.queues),
        tasks=list(identity.tasks),
        started_at=DatabaseNow(),
        heartbeat_at=DatabaseNow(),
        heartbeat_every=identity.heartbeat_every,
    )
    worker.save(using=using, force_insert=True)
    return int(worker.pk)


def beat(worker_id: int, *, clock_offset: timedelta | None, stopping: bool, timeout: float) -> bool:
    """Say that the worker lives; return False when its row was deleted, so that it registers anew."""
    using = alias()
    with short_transaction(using, timeout=timeout):
        rows = Worker.objects.using(using).filter(pk=worker_id)
        return rows.update(heartbeat_at=DatabaseNow(), clock_offset=clock_offset, stopping=stopping) == 1


@in_short_transaction
def deregister_worker(worker_id: int) -> None:
    """Delete the row of a worker that stops; leases it may still have keep their run's record of its name."""
    Worker.objects.using(alias()).filter(pk=worker_id).delete()


@in_short_transaction
def forget_dead_workers() -> int:
    """Delete the rows of workers that have been silent for a day; return how many.

    A dead worker's leases don't depend on its row: they expire by themselves.
    """
    using = alias()
    silent = Worker.objects.using(using).filter(heartbeat_at__lt=DatabaseNow() - DEAD_ROWS_KEPT)
    return silent.delete()[1].get("leasejobs.Worker", 0)


def live_workers(using: str) -> Collection[Worker]:
    """Return the workers that live, judged here: SQLite and MySQL can't multiply a duration, and rows are few."""
    now = database_now(using)
    return [worker for worker in Worker.objects.using(using) if is_alive(worker, now)]
