"""Drains runs that do nothing with one real worker, next to a raw loop of the same work by SQL, on one PostgreSQL.

The server is durable: each commit is on disk. The raw loop claims and finishes in batches on one connection, with no
job code in between: the limit of the database for this work.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = "tests.support.settings"
TASK = "t.quick"
RAW_BATCH = 50


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks drain", description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3, help="of which the median counts")
    options = parser.parse_args(arguments)
    from testproject.embedded_postgres import embedded_postgres

    with embedded_postgres(durable=True) as server:
        os.environ.update(DATABASE_URL=server.url, DJANGO_SETTINGS_MODULE=SETTINGS)
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        measure(options.runs, options.concurrency, options.repeat)


def measure(runs: int, concurrency: int, repeat: int) -> None:
    """Print the median rates, the raw loop first, in turn so that a busy moment hits all alike."""
    rates: dict[str, list[float]] = {}
    for _ in range(repeat):
        fill(runs)
        rates.setdefault("raw loop", []).append(raw_rate(runs))
        for pool in ("process", "thread"):
            fill(runs)
            work(pool, concurrency)
            rates.setdefault(f"{pool} pool", []).append(worker_rate(runs))
    limit = statistics.median(rates["raw loop"])
    print(f"{runs} runs, concurrency {concurrency}, median of {repeat}")
    for name, found in rates.items():
        rate = statistics.median(found)
        print(f"{name:<14}{rate:9,.0f} runs/s {rate / limit:6.2f} of the raw loop")


def fill(runs: int) -> None:
    """Leave nothing in the tables but so many READY runs of one job whose runs may overlap."""
    from django.db import connection

    from django_leasejobs.clock import database_now
    from django_leasejobs.engine.new_runs import run_of
    from django_leasejobs.models import Attempt, Job, Lease, Origin, Run

    for model in (Attempt, Lease, Run, Job):
        model.objects.all().delete()
    job = Job.objects.create(name="drained", task=TASK, overlap="allow")
    now = database_now("default")
    Run.objects.bulk_create([run_of(job, now=now, origin=Origin.MANUAL) for _ in range(runs)], batch_size=1000)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def work(pool: str, concurrency: int) -> None:
    """Let a worker drain what is there."""
    command = [sys.executable, "manage.py", "run_job_worker", "--drain", "--no-sync", "-v0", "--pool", pool]
    environment = {**os.environ, "LEASEJOBS_TESTS": "1"}
    subprocess.run([*command, "--concurrency", str(concurrency)], cwd=ROOT, env=environment, check=True)


def worker_rate(runs: int) -> float:
    """Return the runs per second from the first claim to the last recorded end, by the database's clock."""
    from django.db.models import Max, Min

    from django_leasejobs.models import Run, RunStatus

    done = Run.objects.filter(status=RunStatus.SUCCESSFUL)
    assert done.count() == runs, "not every run succeeded"
    span = done.aggregate(first=Min("started_at"), last=Max("finished_at"))
    return float(runs / (span["last"] - span["first"]).total_seconds())


def raw_rate(runs: int) -> float:
    """Claim and finish all runs by hand, a batch at a time."""
    import psycopg

    started = time.perf_counter()
    with psycopg.connect(os.environ["DATABASE_URL"].replace("postgres://", "postgresql://")) as connection:
        while raw_batch(connection):
            pass
    return runs / (time.perf_counter() - started)


def raw_batch(connection: Any) -> int:
    """Do one batch in two transactions, as a worker must; return how many runs it had."""
    tokens = connection.execute(
        "WITH picked AS (SELECT id FROM leasejobs_run WHERE status = 'READY' AND available_at <= statement_timestamp()"
        " ORDER BY priority DESC, available_at, id LIMIT %s FOR NO KEY UPDATE SKIP LOCKED),"
        " started AS (UPDATE leasejobs_run r SET status = 'RUNNING', started_at = statement_timestamp()"
        " FROM picked WHERE r.id = picked.id RETURNING r.id)"
        " INSERT INTO leasejobs_lease (run_id, duration, claimed_at, renewed_at, expires_at, cancel_reason)"
        " SELECT id, interval '60 s', statement_timestamp(), statement_timestamp(),"
        " statement_timestamp() + interval '60 s', '' FROM started RETURNING id",
        [RAW_BATCH],
    ).fetchall()
    connection.commit()
    connection.execute(
        "WITH ended AS (DELETE FROM leasejobs_lease WHERE id = ANY(%s) RETURNING run_id)"
        " UPDATE leasejobs_run r SET status = 'SUCCESSFUL', finished_at = statement_timestamp()"
        " FROM ended WHERE r.id = ended.run_id",
        [[token for (token,) in tokens]],
    )
    connection.commit()
    return len(tokens)
