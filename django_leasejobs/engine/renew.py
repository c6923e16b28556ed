"""Leases of this worker get more time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import F

from django_leasejobs.clock import DatabaseNow
from django_leasejobs.models import Lease

from .transactions import alias, short_transaction


@dataclass(frozen=True, slots=True)
class Renewed:
    """What a renewal found: the tokens that still stand, those that are gone, and those somebody cancelled."""

    held: frozenset[int]
    lost: frozenset[int]
    cancelled: dict[int, str]


def renew_leases(tokens: Collection[int], *, timeout: float) -> Renewed:
    """Move the expiry of these leases to a full term from now, each by the term its row says.

    Locks: the lease rows, by one UPDATE. One statement, two more only when a lease is gone or cancelled.
    ``timeout`` bounds each statement in seconds. Not tried again here: the caller knows how long it may trust.
    Beside it: guards (they lock the run, not the lease); reclaim (whoever is first wins; a lease past its
    expiry whose row is still there is renewed, nobody else has it).
    """
    using = alias()
    if not tokens:
        return Renewed(frozenset(), frozenset(), {})
    wanted = frozenset(tokens)
    leases = Lease.objects.using(using).filter(pk__in=sorted(wanted))
    with short_transaction(using, timeout=timeout):
        later = {"renewed_at": DatabaseNow(), "expires_at": DatabaseNow() + F("duration")}
        if leases.filter(cancel_requested_at__isnull=True).update(**later) == len(wanted):
            return Renewed(wanted, frozenset(), {})
        leases.filter(cancel_requested_at__isnull=False).update(**later)
        rows = list(leases.values_list("pk", "cancel_requested_at", "cancel_reason"))
    held = frozenset(pk for pk, _, _ in rows)
    return Renewed(held, wanted - held, {pk: reason for pk, asked, reason in rows if asked is not None})
