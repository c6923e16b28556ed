"""I5: who reckons from the start of a claim or renewal stops before the lease can be taken over."""

from __future__ import annotations

from datetime import timedelta

import pytest

from django_leasejobs.engine.reclaim import reclaim_leases
from django_leasejobs.engine.renew import renew_leases
from django_leasejobs.models import Lease
from django_leasejobs.policies.trust import trusted_until
from tests.support.factories import claim, make_run, make_task, now, rng

pytestmark = pytest.mark.django_db(transaction=True)

TERM = timedelta(seconds=30)


def test_a_lease_lasts_at_least_its_term_from_the_start_of_its_claim() -> None:
    make_task()
    make_run(lease_duration=TERM)
    start = now()

    claim()

    assert Lease.objects.get().expires_at >= start + TERM


def test_a_lease_lasts_at_least_its_term_from_the_start_of_its_last_renewal() -> None:
    make_task()
    make_run(lease_duration=TERM)
    (run,) = claim().runs
    start = now()

    renew_leases([run.token], timeout=5)

    assert Lease.objects.get().expires_at >= start + TERM


def test_trust_ends_before_anybody_may_take_the_lease() -> None:
    """Both reckon from the same start here; the one less a margin, the other not."""
    make_task()
    make_run(lease_duration=TERM)
    start = now()
    claim()

    end_of_trust = start + timedelta(seconds=trusted_until(0, TERM.total_seconds()))

    assert end_of_trust < Lease.objects.get().expires_at
    assert reclaim_leases(rng=rng()).settlements == ()
