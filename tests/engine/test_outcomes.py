from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from django_leasejobs.engine.outcomes import (
    Counters,
    Died,
    Ending,
    HandedBack,
    Raised,
    Stopped,
    Succeeded,
    Verdict,
    judge,
)
from django_leasejobs.models import Outcome, RunStatus
from django_leasejobs.policies.retrying import RetryPolicy
from tests.support.factories import rng

READY, FAILED, CANCELLED, SUCCESSFUL = RunStatus.READY, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.SUCCESSFUL
NO_BACKOFF = timedelta(0)


def counted(*, failures: int = 0, lost: int = 0, retries: int = 0, max_lost: int = 3) -> Counters:
    policy = RetryPolicy(retries=retries, backoff=NO_BACKOFF, max_lost=max_lost)
    return Counters(failures=failures, lost=lost, policy=policy)


@pytest.mark.parametrize(
    ("ending", "counters", "expected"),
    [
        (Succeeded(5), counted(), {"status": SUCCESSFUL, "result": 5}),
        (Succeeded(5), counted(failures=2, lost=1), {"status": SUCCESSFUL, "result": 5, "failures": 2, "lost": 1}),
        (
            Raised("E", "T"),
            counted(retries=1),
            {"status": READY, "failures": 1, "outcome": Outcome.FAILED, "error": "E", "traceback": "T"},
        ),
        (
            Raised("E", timed_out=True),
            counted(),
            {
                "status": FAILED, "failures": 1, "outcome": Outcome.TIMED_OUT, "error": "E",
                "reason": "failed once, with no retries allowed",
            },
        ),
        (
            Died("gone"),
            counted(),
            {"status": READY, "lost": 1, "outcome": Outcome.LOST, "error": "gone", "reason": "gone"},
        ),
        (
            Died("gone"),
            counted(max_lost=0),
            {
                "status": FAILED, "lost": 1, "outcome": Outcome.LOST, "error": "gone",
                "reason": "lost its lease once, with no losses allowed: gone",
            },
        ),
        (
            HandedBack("stop"),
            counted(failures=1, lost=2),
            {"status": READY, "failures": 1, "lost": 2, "outcome": Outcome.RELEASED, "reason": "stop"},
        ),
        (Stopped("asked"), counted(), {"status": CANCELLED, "outcome": Outcome.CANCELLED, "reason": "asked"}),
    ],
)  # fmt: skip
def test_each_ending_has_its_verdict(ending: Ending, counters: Counters, expected: dict[str, Any]) -> None:
    verdict = judge(ending, counters, rng())

    assert verdict == Verdict(**{"failures": 0, "lost": 0, **expected})


@pytest.mark.parametrize("ending", [Raised("E"), Died("gone"), HandedBack("stop"), Stopped("asked by hand")])
def test_a_run_that_was_asked_to_cancel_is_cancelled_however_it_ended(ending: Ending) -> None:
    verdict = judge(ending, counted(retries=9), rng(), cancel_reason="asked by hand")

    assert (verdict.status, verdict.reason, verdict.failures, verdict.lost) == (CANCELLED, "asked by hand", 0, 0)


def test_a_success_stays_one_when_a_cancel_came_too_late() -> None:
    assert judge(Succeeded(1), counted(), rng(), cancel_reason="late").status == SUCCESSFUL


def test_a_cancel_without_a_reason_is_a_cancel_all_the_same() -> None:
    assert judge(Raised("E"), counted(retries=9), rng(), cancel_reason="").status == CANCELLED


def test_a_second_loss_waits_before_the_run_is_taken_up_again() -> None:
    """I7: a job that kills its worker is not run in a tight loop."""
    assert judge(Died("gone"), counted(), rng()).delay == timedelta(0)
    assert judge(Died("gone"), counted(lost=1), rng()).delay > timedelta(0)


@pytest.mark.parametrize(("ending", "plain"), [(Succeeded(), True), (Succeeded(0), False), (HandedBack("stop"), False)])
def test_only_a_success_without_a_result_is_plain(ending: Ending, plain: bool) -> None:
    assert judge(ending, counted(), rng()).plain is plain
