from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_leasejobs.policies.backoff import CAP, delay

SECOND = timedelta(seconds=1)
durations = st.timedeltas(timedelta(0), timedelta(days=400))


class Edge(Random):
    """A source that always draws one end of the range."""

    def __init__(self, *, lowest: bool) -> None:
        super().__init__()
        self.lowest = lowest

    def uniform(self, a: float, b: float) -> float:
        return a if self.lowest else b


EXAMPLES = [
    # n, base, shortest and longest wait, all in seconds
    (1, 10, 5, 10),
    (2, 10, 10, 20),
    (3, 10, 20, 40),
    (9, 10, 1280, 2560),
    (10, 10, 1800, 3600),
    (1_000_000, 10, 1800, 3600),
    (1, 0, 0, 0),
    (50, 0, 0, 0),
    (1, 7200, 3600, 7200),
    (5, 7200, 3600, 7200),
]


@pytest.mark.parametrize(("n", "base", "shortest", "longest"), EXAMPLES)
def test_delay(n: int, base: int, shortest: int, longest: int) -> None:
    drawn = [delay(n, base * SECOND, Edge(lowest=lowest)) for lowest in (True, False)]

    assert drawn == [shortest * SECOND, longest * SECOND]


def test_the_cap_can_be_chosen() -> None:
    assert delay(9, 10 * SECOND, Edge(lowest=False), cap=60 * SECOND) == 60 * SECOND


@pytest.mark.parametrize(
    ("n", "base", "cap"),
    [(0, SECOND, CAP), (-1, SECOND, CAP), (1, -SECOND, CAP), (1, SECOND, -CAP)],
)
def test_senseless_values_are_refused(n: int, base: timedelta, cap: timedelta) -> None:
    with pytest.raises(ValueError, match=r"A number from 1 and durations from 0 are needed"):
        delay(n, base, Random(1), cap)


@given(st.integers(1, 10**9), durations, st.randoms(use_true_random=False))
def test_a_wait_stays_within_its_bounds(n: int, base: timedelta, rng: Random) -> None:
    wait = delay(n, base, rng)

    assert base / 2 - timedelta(microseconds=1) <= wait <= max(base, CAP)


@given(st.integers(1, 8), st.randoms(use_true_random=False))
def test_below_the_cap_no_wait_is_shorter_than_the_one_before(n: int, rng: Random) -> None:
    base = 10 * SECOND

    assert delay(n, base, rng) <= delay(n + 1, base, rng)


@given(st.integers(1, 100), durations, st.integers())
def test_the_same_source_draws_the_same_wait(n: int, base: timedelta, seed: int) -> None:
    assert delay(n, base, Random(seed)) == delay(n, base, Random(seed))
