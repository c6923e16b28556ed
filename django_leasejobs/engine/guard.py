"""Effects of job code under a live lease: ``context.guard()`` and ``atomic=True``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections, transaction
from django.db.models import Exists, F

from django_leasejobs import vendor
from django_leasejobs.clock import DatabaseNow
from django_leasejobs.exceptions import LeaseLost
from django_leasejobs.models import Lease, Run

from .claim import Claimed
from .transactions import alias


@contextmanager
def guarded(run: Claimed, using: str | None = None) -> Iterator[None]:
    """Open a transaction that commits only while the lease of ``run`` stands.

    Locks: the run row until the transaction ends. Everyone who could end the lease (reclaim, release, finish)
    locks the run first, so the lease can't be taken meanwhile; renewals touch only the lease row and go on.
    Raise LeaseLost when the lease is gone or has run out, ValueError for another database than the jobs' own.
    """
    home = alias()
    if using is not None and using != home:
        raise ValueError(
            f"guard() protects writes to the jobs' own database {home!r}; it can't for {using!r}: no transaction"
            " spans two databases. Send the token with those writes instead."
        )
    connection = connections[home]
    with vendor.write_lock_at_begin(connection), transaction.atomic(using=home):
        require_lease(home, run)
        yield
        if connection.vendor == "sqlite":
            # The write lock kept renewals out as well; this one stands for them.
            leases = Lease.objects.using(home).filter(pk=run.token)
            leases.update(renewed_at=DatabaseNow(), expires_at=DatabaseNow() + F("duration"))


def require_lease(using: str, run: Claimed) -> None:
    """Lock the run row and raise LeaseLost unless the lease stands now."""
    locked = vendor.lock(Run.objects.using(using).filter(pk=run.run_id)).values_list("pk", flat=True)
    found = bool(list(locked))
    # A statement of its own: it sees what was committed while the lock was waited for.
    lease = Lease.objects.using(using).filter(pk=run.token, expires_at__gt=DatabaseNow())
    if not found or not lease.exists():
        raise LeaseLost(f"Run {run.run_id} no longer holds the lease with token {run.token}: nothing was written.")


def save_state(run: Claimed, value: Any) -> None:
    """Store the run's resumable state if the lease stands; raise LeaseLost otherwise.

    Locks: the run row, by one UPDATE; in the caller's transaction where there is one.
    """
    using = alias()
    lease = Lease.objects.using(using).filter(pk=run.token, expires_at__gt=DatabaseNow())
    rows = Run.objects.using(using).filter(Exists(lease), pk=run.run_id)
    if rows.update(state=value) != 1:
        raise LeaseLost(f"Run {run.run_id} no longer holds the lease with token {run.token}: its state was not saved.")
