"""Defaults and checks that several models share."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import CheckConstraint, Q

from django_leasejobs.policies.limits import HIGHEST_PRIORITY, LOWEST_PRIORITY

ZERO = timedelta(0)
DEFAULT_LEASE = timedelta(seconds=60)
DEFAULT_BACKOFF = timedelta(seconds=10)
DEFAULT_MAX_LOST = 3


def policy_checks(table: str, *, lease: str = "lease") -> list[CheckConstraint]:
    """Return the range checks of the policy columns that jobs hand down to their runs."""
    ranges = {
        "lease": Q(**{f"{lease}__gt": ZERO}),
        "timeout": Q(timeout__isnull=True) | Q(timeout__gt=ZERO),
        "backoff": Q(backoff__gte=ZERO),
        "priority": Q(priority__gte=LOWEST_PRIORITY, priority__lte=HIGHEST_PRIORITY),
    }
    return [CheckConstraint(condition=check, name=f"leasejobs_{table}_{name}") for name, check in ranges.items()]
