from __future__ import annotations

from datetime import timedelta

import pytest

from django_leasejobs.engine.renew import Renewed, renew_leases
from django_leasejobs.models import Lease
from tests.support.factories import claim, make_run, now
from tests.support.rows import HOUR, all_rows, claimed_batch, claimed_run, expire

pytestmark = pytest.mark.django_db


def renew(*tokens: int) -> Renewed:
    return renew_leases(tokens, timeout=5)


def test_renewing_nothing_is_nothing() -> None:
    assert renew() == Renewed(frozenset(), frozenset(), {})


def test_a_renewal_gives_each_lease_its_own_full_term_from_now() -> None:
    for seconds in (2, 600):
        make_run(lease_duration=timedelta(seconds=seconds))
    tokens = frozenset(run.token for run in claim(2).runs)
    Lease.objects.update(claimed_at=now() - HOUR, renewed_at=now() - HOUR, expires_at=now() - HOUR)
    before = now()

    renewed = renew(*tokens)

    assert renewed == Renewed(tokens, frozenset(), {})
    for lease in Lease.objects.all():
        assert before <= lease.renewed_at <= now()
        assert lease.expires_at - lease.renewed_at == lease.duration
        assert lease.claimed_at < before


def test_a_late_renewal_of_a_row_that_is_still_there_is_fine() -> None:
    run = claimed_run()
    expire(run, ago=HOUR)

    renewed = renew(run.token)

    assert renewed.held == {run.token}
    assert Lease.objects.get().expires_at > now()


def test_a_lease_that_is_gone_is_lost_and_the_others_are_renewed() -> None:
    gone, kept = claimed_batch(2)
    Lease.objects.filter(pk=gone.token).delete()
    expire(kept)

    renewed = renew(gone.token, kept.token)

    assert renewed == Renewed(frozenset({kept.token}), frozenset({gone.token}), {})
    assert Lease.objects.get().expires_at > now()


def test_a_cancelled_lease_is_renewed_and_the_cancel_is_told() -> None:
    """The holder needs the lease until it has ended the work."""
    asked, other = claimed_batch(2)
    Lease.objects.filter(pk=asked.token).update(cancel_requested_at=now(), cancel_reason="by Ann")
    expire(asked, other)

    renewed = renew(asked.token, other.token)

    assert renewed == Renewed(frozenset({asked.token, other.token}), frozenset(), {asked.token: "by Ann"})
    assert Lease.objects.filter(expires_at__gt=now()).count() == 2


def test_lost_and_cancelled_leases_are_told_apart_in_one_renewal() -> None:
    runs = claimed_batch(3)
    Lease.objects.filter(pk=runs[0].token).delete()
    Lease.objects.filter(pk=runs[1].token).update(cancel_requested_at=now())

    renewed = renew(*(run.token for run in runs))

    assert (renewed.held, renewed.lost) == ({runs[1].token, runs[2].token}, {runs[0].token})
    assert renewed.cancelled == {runs[1].token: ""}


def test_a_renewal_of_a_vanished_row_writes_nothing() -> None:
    claimed_run()
    before = all_rows()

    assert renew(10**9).lost == {10**9}
    assert all_rows() == before
