"""How far running jobs are, kept with their leases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django_leasejobs.models import Lease

from .transactions import alias, in_short_transaction


@in_short_transaction
def record_progress(progress: Mapping[int, Any]) -> None:
    """Store the progress of running runs by token; a token that is gone changes nothing.

    Locks: the lease rows, by one UPDATE.
    """
    leases = [Lease(pk=token, progress=value) for token, value in sorted(progress.items())]
    Lease.objects.using(alias()).bulk_update(leases, ["progress"])
