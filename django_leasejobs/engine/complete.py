"""A job's own writes and its success become one transaction: ``atomic=True``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django_leasejobs.clock import database_now
from django_leasejobs.models import Lease, RunStatus

from .claim import Claimed
from .guard import guarded
from .outcomes import Verdict
from .settle import settle, settlement_of
from .transactions import alias


def complete_atomically(run: Claimed, work: Callable[[], tuple[Any, str]]) -> Any:
    """Call ``work`` under ``guarded`` and record the success in the same transaction; return its result.

    ``work`` returns the result and the log to keep. Whatever it raises rolls all back and is raised on. Either
    the effects, the result and the end of the lease are all there, or none is. Raise LeaseLost as ``guarded``.
    Locks: as ``guarded``, then the lease row at the end.
    """
    with guarded(run):
        result, log = work()
        _record_success(alias(), run, result, log)
    return result


def _record_success(using: str, run: Claimed, result: Any, log: str) -> None:
    progress, worker_name = (
        Lease.objects.using(using).filter(pk=run.token).values_list("progress", "run__worker_name").get()
    )
    verdict = Verdict(status=RunStatus.SUCCESSFUL, failures=run.failures, lost=run.lost, result=result)
    settlement = settlement_of(run, verdict, worker_name=worker_name, progress=progress, log=log)
    settle(using, [settlement], database_now(using))
