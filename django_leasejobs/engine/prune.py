"""History past its retention goes, in bounded batches."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import QuerySet

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow
from django_leasejobs.models import Attempt, Run

from .transactions import alias, in_short_transaction


@in_short_transaction
def prune_runs(retention: Mapping[str, timedelta | None], *, limit: int = 1000) -> int:
    """Delete up to ``limit`` finished runs older than the retention of their status (None: kept for ever).

    Locks: the rows it deletes, skipping what is locked elsewhere. Beside it: other prunes. Returns how many runs
    went; a full batch means that there may be more. Each instant's row is gone then, but the job's cursor is long
    past it, so nothing is run again for that.
    """
    using = alias()
    deleted = 0
    for status, kept in retention.items():
        if kept is None or deleted >= limit:
            continue
        locked = vendor.lock(_old_runs(using, status, kept).order_by("finished_at"), skip_locked=True)
        ids = list(locked.values_list("pk", flat=True)[: limit - deleted])
        if ids:
            Attempt.objects.using(using).filter(run_id__in=ids)._raw_delete(using)
            Run.objects.using(using).filter(pk__in=ids)._raw_delete(using)
        deleted += len(ids)
    return deleted


def count_old_runs(retention: Mapping[str, timedelta | None]) -> dict[str, int]:
    """Count, by status, what ``prune_runs`` would delete by and by. One statement for each status that is not kept."""
    using = alias()
    return {status: _old_runs(using, status, kept).count() for status, kept in retention.items() if kept is not None}


def _old_runs(using: str, status: str, kept: timedelta) -> QuerySet[Run]:
    return Run.objects.using(using).filter(status=status, finished_at__lt=DatabaseNow() - kept)
