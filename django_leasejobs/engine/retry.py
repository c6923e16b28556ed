"""A person wants an ended run to start anew."""

from __future__ import annotations

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow
from django_leasejobs.models import Run, RunStatus
from django_leasejobs.models.run import ORPHANED

from .transactions import alias, in_short_transaction

RETRYABLE = (RunStatus.FAILED, RunStatus.CANCELLED)


@in_short_transaction
def retry_run(run_id: int, *, reason: str) -> bool:
    """Make a FAILED or CANCELLED run READY again with its counters at zero; return False for any other.

    A run whose job was deleted is none of them: nobody would take it up.
    Its attempts stay on record and the next token is larger than all before, so no late result can pass for it.
    Locks: the run row, by one UPDATE. Beside it: prune, another retry (one of them finds nothing to do).
    """
    using = alias()
    ended = Run.objects.using(using).filter(pk=run_id, status__in=RETRYABLE).exclude(ORPHANED)
    changed = ended.update(
        status=RunStatus.READY,
        failures=0,
        lost=0,
        reason=reason,
        finished_at=None,
        start_before=None,
        available_at=DatabaseNow(),
    )
    if changed:
        vendor.notify(using, vendor.WAKE_CLAIM)
    return changed == 1
