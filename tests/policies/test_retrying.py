from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_leasejobs.policies.retrying import GiveUp, Retry, RetryPolicy, after_failure, after_loss

SECOND = timedelta(seconds=1)


def policy(retries: int = 2, backoff: float = 10, max_lost: int = 3) -> RetryPolicy:
    return RetryPolicy(retries=retries, backoff=timedelta(seconds=backoff), max_lost=max_lost)


FAILURES = [
    # failures, retries, shortest and longest wait in seconds or the reason to give up
    (1, 0, "failed once, with no retries allowed"),
    (1, 2, (5, 10)),
    (2, 2, (10, 20)),
    (3, 2, "failed 3 times, with 2 retries allowed"),
    (2, 1, "failed 2 times, with 1 retry allowed"),
]

LOSSES = [
    (1, 0, "lost its lease once, with no losses allowed"),
    (1, 3, (0, 0)),
    (2, 3, (5, 10)),
    (3, 3, (10, 20)),
    (4, 3, "lost its lease 4 times, with 3 losses allowed"),
    (2, 1, "lost its lease 2 times, with 1 loss allowed"),
]


def assert_decided(decision: Retry | GiveUp, expected: tuple[int, int] | str) -> None:
    match decision:
        case GiveUp(reason=reason):
            assert reason == expected
        case Retry(delay=delay):
            assert isinstance(expected, tuple)
            assert expected[0] * SECOND <= delay <= expected[1] * SECOND


@pytest.mark.parametrize(("failures", "retries", "expected"), FAILURES)
def test_after_failure(failures: int, retries: int, expected: tuple[int, int] | str) -> None:
    assert_decided(after_failure(failures, policy(retries=retries), Random(7)), expected)


@pytest.mark.parametrize(("lost", "max_lost", "expected"), LOSSES)
def test_after_loss(lost: int, max_lost: int, expected: tuple[int, int] | str) -> None:
    assert_decided(after_loss(lost, policy(max_lost=max_lost), Random(7)), expected)


def test_a_job_that_kills_its_worker_does_not_spin_even_without_backoff() -> None:
    decision = after_loss(2, policy(backoff=0), Random(7))

    assert isinstance(decision, Retry)
    assert decision.delay >= SECOND / 2


@given(st.integers(0, 50), st.integers(0, 50), st.randoms(use_true_random=False))
def test_a_run_is_tried_exactly_as_often_as_the_policy_says(retries: int, max_lost: int, rng: Random) -> None:
    allowed = policy(retries=retries, max_lost=max_lost)

    failures = [isinstance(after_failure(n, allowed, rng), Retry) for n in range(1, 60)]
    losses = [isinstance(after_loss(n, allowed, rng), Retry) for n in range(1, 60)]

    assert failures == [n <= retries for n in range(1, 60)]
    assert losses == [n <= max_lost for n in range(1, 60)]
