from __future__ import annotations

import logging
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError
from django.db import connections

from django_leasejobs.conf import POOLS, get_settings
from django_leasejobs.engine.readiness import known_queues
from django_leasejobs.engine.transactions import alias
from django_leasejobs.management.instants import read_seconds
from django_leasejobs.management.output import JobsCommand, require_loaded_code
from django_leasejobs.worker.child_settings import Limits
from django_leasejobs.worker.options import WorkerOptions, default_name
from django_leasejobs.worker.service import JobWorker

MAX_NAME = 200
# Renewing, claiming, looking and listening.
LOOPS = 4
PSYCOPG_POOL_SIZE = 4
LOG_FORMAT = "%(asctime)s %(levelname)s %(message)s"


class Command(JobsCommand):
    help = "Plans due jobs, claims their runs under leases and runs them, until it is told to stop."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--queue", action="append", default=[], metavar="NAME", help="Only this queue; repeatable.")
        parser.add_argument("--concurrency", type=int, metavar="N", help="Runs at a time (LEASEJOBS['CONCURRENCY']).")
        parser.add_argument("--pool", choices=POOLS, help="Where job code runs (LEASEJOBS['POOL']).")
        parser.add_argument("--poll-interval", metavar="S", help="The longest time between two looks, in seconds.")
        parser.add_argument("--name", help="The worker's name (host, process id and a random part).")
        parser.add_argument("--drain", action="store_true", help="Do all that is due now, then exit 0.")
        parser.add_argument("--max-runs", type=int, metavar="N", help="Exit 0 after this many runs.")
        parser.add_argument(
            "--shutdown-timeout", default="30", metavar="S", help="How long runs may go on after a stop signal (30)."
        )
        parser.add_argument("--no-schedule", action="store_true", help="Claim only; plan nothing.")
        parser.add_argument("--no-sync", action="store_true", help="Leave the job table as it is.")

    def run(self, options: dict[str, Any]) -> int:
        worker_options = self._read(options)
        require_loaded_code()
        require_connections(connections[alias()].settings_dict, worker_options)
        known = known_queues()
        unknown = sorted(set(worker_options.queues) - known)
        if unknown:
            raise CommandError(
                f"No job uses the queue {unknown[0]!r}, so this worker would never do anything."
                f" Queues in use: {', '.join(sorted(known)) or 'none'}."
            )
        show_log(options["verbosity"])
        return JobWorker(worker_options).run()

    def _read(self, options: dict[str, Any]) -> WorkerOptions:
        settings = get_settings()
        interval = options["poll_interval"]
        return WorkerOptions(
            queues=tuple(dict.fromkeys(options["queue"])),
            concurrency=_at_least_one("--concurrency", options["concurrency"]) or settings.CONCURRENCY,
            pool=options["pool"] or settings.POOL,
            poll_interval=settings.POLL_INTERVAL.total_seconds()
            if interval is None
            else read_seconds("--poll-interval", interval, lowest=0.01),
            name=default_name() if options["name"] is None else _name(options["name"]),
            shutdown_timeout=read_seconds("--shutdown-timeout", options["shutdown_timeout"]),
            drain=options["drain"],
            max_runs=_at_least_one("--max-runs", options["max_runs"]),
            schedule=not options["no_schedule"],
            sync=not options["no_sync"],
            notify=settings.NOTIFY,
            limits=Limits(result=settings.MAX_RESULT_BYTES, log=settings.MAX_LOG_BYTES),
        )


def require_connections(database: Mapping[str, Any], options: WorkerOptions) -> None:
    """Raise CommandError if Django's connection pool has fewer than this process holds at the same time.

    Its loops keep one each: a renewal that waited for one that a job has would come too late.
    """
    pool = database["OPTIONS"].get("pool")
    if not pool:
        return
    size = PSYCOPG_POOL_SIZE
    if isinstance(pool, Mapping):
        size = pool.get("max_size") or pool.get("min_size", PSYCOPG_POOL_SIZE)
    needed = LOOPS + (options.concurrency if options.pool == "thread" else 0)
    if size < needed:
        raise CommandError(
            f"The connection pool in DATABASES has room for {size} connections, and this worker needs {needed} at"
            f' a time. Set OPTIONS["pool"] = {{"max_size": {needed}}}, or no pool for workers, which keep connections.'
        )


def show_log(verbosity: int) -> None:
    """Print the worker's log to stderr where the project's LOGGING doesn't handle it."""
    logger = logging.getLogger("django_leasejobs")
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(LOG_FORMAT))
        logger.addHandler(handler)
        logger.setLevel({0: logging.WARNING, 1: logging.INFO}.get(verbosity, logging.DEBUG))


def _name(value: str) -> str:
    if not value.strip() or len(value) > MAX_NAME or not value.isprintable():
        raise CommandError(f"--name {value!r}: a printable text of 1 to {MAX_NAME} characters is needed.")
    return value


def _at_least_one(option: str, value: int | None) -> int | None:
    if value is not None and value < 1:
        raise CommandError(f"{option} {value}: at least 1 is needed.")
    return value
