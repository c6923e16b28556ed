"""What is due now, and when the next thing is: one statement for an idle worker."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections

from django_leasejobs.clock import as_utc, now_sql
from django_leasejobs.models import Job, Lease, Run, RunStatus

from .claim import claimable
from .transactions import alias


@dataclass(frozen=True, slots=True)
class Outlook:
    """The database's time, whether a run can be claimed now, and when the next things come (None: not in sight)."""

    now: datetime
    can_claim: bool
    next_plan: datetime | None
    next_expiry: datetime | None
    next_available: datetime | None

    @property
    def can_plan(self) -> bool:
        return self.next_plan is not None and self.next_plan <= self.now

    @property
    def can_reclaim(self) -> bool:
        return self.next_expiry is not None and self.next_expiry < self.now

    def seconds_until_next(self) -> float | None:
        """How long after the look nothing new can become due; None when nothing is in sight."""
        instants = (self.next_plan, self.next_expiry, self.next_available)
        known = [(item - self.now).total_seconds() for item in instants if item is not None]
        return max(0.0, min(known)) if known else None


def look_ahead(*, queues: Collection[str], tasks: Collection[str]) -> Outlook:
    """Ask in one statement what is due and what comes next. Locks nothing, and each part is answered by an index."""
    using = alias()
    connection = connections[using]
    claim_sql, params = _claim_sql(using, queues, tasks)
    quote = connection.ops.quote_name
    job, lease, run = (quote(model._meta.db_table) for model in (Job, Lease, Run))
    now = now_sql(connection).replace("%", "%%")
    sql = (
        f"SELECT {now}, (SELECT MIN(next_run_at) FROM {job}), (SELECT MIN(expires_at) FROM {lease}),"  # noqa: S608
        f" (SELECT MIN(available_at) FROM {run} WHERE status = '{RunStatus.READY}' AND available_at > {now}),"
        f" EXISTS ({claim_sql})"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        row: Any = cursor.fetchone()
    when = [None if value is None else as_utc(value) for value in row[:4]]
    assert when[0] is not None
    return Outlook(now=when[0], can_claim=bool(row[4]), next_plan=when[1], next_expiry=when[2], next_available=when[3])


def _claim_sql(using: str, queues: Collection[str], tasks: Collection[str]) -> tuple[str, tuple[Any, ...]]:
    """Return the query for a run that can be claimed now; one without rows when this worker knows no task."""
    query = claimable(using, queues, tasks).values("pk")[:1].query
    try:
        sql, params = query.get_compiler(using).as_sql()
    except EmptyResultSet:
        return "SELECT 1 WHERE 1 = 0", ()
    return sql, tuple(params)
