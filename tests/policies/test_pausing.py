from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_leasejobs.policies.pausing import should_pause

EXAMPLES = [
    # failed, newest first; limit; pause?
    ([], 1, False),
    ([True], 1, True),
    ([False], 1, False),
    ([True, True], 3, False),
    ([True, True, True], 3, True),
    ([True, True, False], 3, False),
    ([False, True, True, True], 3, False),
    ([True, True, True, False], 3, True),
    ([True] * 10, None, False),
    ([True] * 10, 0, False),
]


@pytest.mark.parametrize(("failed", "limit", "expected"), EXAMPLES)
def test_should_pause(failed: list[bool], limit: int | None, expected: bool) -> None:
    assert should_pause(failed, limit) is expected


@given(st.lists(st.booleans()), st.integers(1, 10))
def test_a_success_among_the_last_runs_keeps_the_job_going(failed: list[bool], limit: int) -> None:
    recent = [False, *failed][:limit]

    assert not should_pause(recent, limit)
