from __future__ import annotations

from django_leasejobs import RunContext

from .models import Effect


def leave_effect(context: RunContext, what: str) -> None:
    """Write down that this run did ``what``, in the transaction of what it did."""
    Effect.objects.create(
        run_id=context.run_id, job_name=context.job_name, what=what, token=context.token, worker=context.worker
    )
