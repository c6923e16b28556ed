from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_leasejobs.policies.trust import margin_for, renew_every, trusted_until

leases = st.floats(0.1, 86_400)
moments = st.floats(0, 10**7)

MARGINS = [
    # lease, margin: a sixth, at least 0.2 s, at most 5 s, never above half
    (0.2, 0.1),
    (1, 0.2),
    (2, 2 / 6),
    (6, 1),
    (30, 5),
    (60, 5),
    (3600, 5),
]


@pytest.mark.parametrize(("lease", "margin"), MARGINS)
def test_margin_for(lease: float, margin: float) -> None:
    assert margin_for(lease) == pytest.approx(margin)


def test_a_lease_is_trusted_from_the_start_of_its_last_renewal() -> None:
    assert trusted_until(1000, 60) == 1055
    assert trusted_until(1000, 60, margin=20) == 1040
    assert trusted_until(1000, 60, margin=0) == 1060


def test_a_lease_is_renewed_at_a_third_of_it() -> None:
    assert renew_every(60) == 20


@pytest.mark.parametrize("lease", [0, -1, float("nan")])
def test_a_lease_without_length_is_refused(lease: float) -> None:
    for ask in (margin_for, renew_every, lambda value: trusted_until(0, value)):
        with pytest.raises(ValueError, match="longer than 0 seconds"):
            ask(lease)


@given(moments, leases)
def test_trust_ends_before_the_lease_does_and_after_two_renewals_were_due(started: float, lease: float) -> None:
    """I5: a worker stops its work before the lease can be taken over."""
    end = trusted_until(started, lease)

    assert end < started + lease
    assert end > started + renew_every(lease)
    if lease >= 1:
        assert end > started + 2 * renew_every(lease)
