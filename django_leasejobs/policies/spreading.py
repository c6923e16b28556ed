"""A stable share of a span of time for each name."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django_leasejobs.durations import A_MOMENT

BITS = 64


def offset(name: str, spread: timedelta) -> timedelta:
    """Return the delay of the job ``name`` in [0, ``spread``): the same in every process and release.

    Raise ValueError for a negative ``spread``.
    """
    if spread < timedelta(0):
        raise ValueError(f"A spread can't be negative: {spread!r}.")
    digest = hashlib.sha256(b"spread:" + name.encode("utf-8", "surrogatepass")).digest()
    share = int.from_bytes(digest[: BITS // 8], "big")
    return (share * (spread // A_MOMENT) >> BITS) * A_MOMENT
