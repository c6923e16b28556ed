"""Fills the tables with many jobs and a long history by a few statements, to look at plans and times."""

from __future__ import annotations

from django.core.management.color import no_style
from django.db import connection

from django_leasejobs.clock import now_sql
from django_leasejobs.models import Attempt, Job, Lease, Run, Worker

RUN_COLUMNS = (
    "job_id, job_name, task, args, kwargs, origin, triggered_by, status, reason, scheduled_for, instants, available_at,"
    " queue, priority, exclusive, lease, retries, backoff, max_lost, failures, lost, worker_name, created_at,"
    " finished_at, error, traceback, log"
)
JOB_COLUMNS = (
    "name, description, task, args, kwargs, source, schedule, timezone, exclude, spread, queue, priority, retries,"
    " backoff, max_lost, lease, overlap, catch_up, enabled, paused_by, pause_reason, next_run_at, schedule_error,"
    " created_at, updated_at"
)
LEASE_COLUMNS = "run_id, exclusive_job_id, duration, claimed_at, renewed_at, expires_at, cancel_reason"
QUEUES = 10


def fill(*, jobs: int, finished: int, waiting: int, deferred: int, running: int) -> None:
    """Insert jobs, finished runs of the last 60 days, and runs that wait, that are for later, and that run.

    One job in a thousand is due, one lease in a hundred has run out. The runs of a kind share out the jobs evenly.
    """
    vendor = connection.vendor
    minute, zero = _duration("60 seconds"), _duration("0 seconds")
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {Job._meta.db_table} ({JOB_COLUMNS})"
            f" SELECT {_text('job ', 'n')}, '', 'tests.noop', '[]', '{{}}', 'admin', '* * * * *', 'UTC', '[]', {zero},"
            f" {_queue()}, 0, 0, {zero}, 3, {minute}, 'allow', 'latest', {_true()}, '', '',"
            f" CASE WHEN n % 1000 = 0 THEN {_ago('60')} ELSE {_ago('-n - 3600')} END, '', {_ago('0')}, {_ago('0')}"
            f" FROM {_series(jobs)}"
        )
        cursor.execute(f"SELECT MIN(id) FROM {Job._meta.db_table}")
        first = cursor.fetchone()[0]
        job = f"{first} + (n % {jobs})"

        def insert_runs(count: int, status: str, available: str, ended: str, name: str) -> None:
            cursor.execute(
                f"INSERT INTO {Run._meta.db_table} ({RUN_COLUMNS})"
                f" SELECT {job}, '{name}', 'tests.noop', '[]', '{{}}', 'schedule', '', {status}, '', NULL, 1,"
                f" {available}, {_queue()}, 0, {_false()}, {minute}, 0, {zero}, 3, 0, 0, '', {available},"
                f" {ended}, '', '', '' FROM {_series(count)}"
            )

        over = "CASE n % 10 WHEN 0 THEN 'FAILED' WHEN 1 THEN 'SKIPPED' ELSE 'SUCCESSFUL' END"
        step = max(1, 60 * 86_400 // finished)
        insert_runs(finished, over, _ago(f"n * {step}"), _ago(f"n * {step}"), "finished")
        insert_runs(waiting, "'READY'", _ago("n"), "NULL", "waiting")
        insert_runs(deferred, "'READY'", _ago("-n - 3600"), "NULL", "deferred")
        insert_runs(running, "'RUNNING'", _ago("n"), "NULL", "running")
        cursor.execute(
            f"INSERT INTO {Lease._meta.db_table} ({LEASE_COLUMNS})"
            f" SELECT id, NULL, {minute}, {_ago('60')}, {_ago('0')},"
            f" CASE WHEN id % 100 = 0 THEN {_ago('30')} ELSE {_ago('-3600')} END, ''"
            f" FROM {Run._meta.db_table} WHERE status = 'RUNNING'"
        )
        for model in (Job, Run, Lease, Attempt, Worker):
            cursor.execute(f"{'ANALYZE TABLE' if vendor == 'mysql' else 'ANALYZE'} {model._meta.db_table}")
            if vendor == "mysql":
                cursor.fetchall()


def empty() -> None:
    """Delete all rows again."""
    tables = [model._meta.db_table for model in (Attempt, Lease, Run, Job)]
    connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), tables))


def explain(sql: str) -> str:
    """Return the database's plan of a statement, as text."""
    how = {"postgresql": "EXPLAIN (FORMAT TEXT)", "mysql": "EXPLAIN", "sqlite": "EXPLAIN QUERY PLAN"}[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(f"{how} {sql}")
        rows = cursor.fetchall()
    if connection.vendor == "postgresql":
        return "\n".join(row[0] for row in rows)
    return "\n".join("  ".join(str(value) for value in row) for row in rows)


def _series(count: int) -> str:
    if connection.vendor == "postgresql":
        return f"generate_series(1, {count}) AS n"
    if connection.vendor == "mysql":
        return f"(SELECT seq AS n FROM seq_1_to_{count}) AS numbers"
    return f"(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {count}) SELECT n FROM c)"


def _ago(seconds: str) -> str:
    now = now_sql(connection)
    if connection.vendor == "postgresql":
        return f"{now} - ({seconds}) * INTERVAL '1 second'"
    if connection.vendor == "mysql":
        return f"{now} - INTERVAL ({seconds}) SECOND"
    return f"STRFTIME('%Y-%m-%d %H:%M:%f000', 'NOW', (-({seconds})) || ' seconds')"


def _duration(text: str) -> str:
    seconds = int(text.split()[0])
    return f"INTERVAL '{seconds} seconds'" if connection.vendor == "postgresql" else str(seconds * 1_000_000)


def _text(prefix: str, number: str) -> str:
    return f"CONCAT('{prefix}', {number})" if connection.vendor == "mysql" else f"'{prefix}' || {number}"


def _queue() -> str:
    return _text("queue ", f"(n % {QUEUES})")


def _true() -> str:
    return "TRUE" if connection.vendor == "postgresql" else "1"


def _false() -> str:
    return "FALSE" if connection.vendor == "postgresql" else "0"
