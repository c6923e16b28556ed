from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_leasejobs.policies.overlap import Overlap, Replace, SkipRun, Start, decide

RUNS = SkipRun("the previous run was still running")
WAITS = SkipRun("the previous run was still waiting to start")
QUEUED = SkipRun("another run was waiting already")

EXAMPLES = [
    # overlap, waiting, running, decision
    ("skip", 0, 0, Start()),
    ("skip", 0, 1, RUNS),
    ("skip", 1, 0, WAITS),
    ("skip", 1, 1, RUNS),
    ("queue", 0, 0, Start()),
    ("queue", 0, 1, Start()),
    ("queue", 1, 0, QUEUED),
    ("queue", 1, 1, QUEUED),
    ("allow", 0, 0, Start()),
    ("allow", 5, 5, Start()),
    ("replace", 0, 0, Start()),
    ("replace", 0, 1, Replace()),
    ("replace", 1, 0, Replace()),
    ("replace", 3, 1, Replace()),
]


@pytest.mark.parametrize(("overlap", "waiting", "running", "decision"), EXAMPLES)
def test_decide(overlap: str, waiting: int, running: int, decision: object) -> None:
    assert decide(Overlap(overlap), waiting=waiting, running=running) == decision


@given(st.sampled_from(Overlap))
def test_a_job_without_unfinished_runs_always_starts(overlap: Overlap) -> None:
    assert decide(overlap, waiting=0, running=0) == Start()


@given(st.sampled_from([Overlap.SKIP, Overlap.QUEUE]), st.integers(0, 9), st.integers(0, 9), st.integers(1, 9))
def test_more_unfinished_runs_never_turn_a_skip_into_a_start(
    overlap: Overlap, waiting: int, running: int, more: int
) -> None:
    if isinstance(decide(overlap, waiting=waiting, running=running), SkipRun):
        assert isinstance(decide(overlap, waiting=waiting + more, running=running + more), SkipRun)
