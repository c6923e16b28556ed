from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from django_leasejobs.policies.unrecorded import Unrecorded

from .grid import Grid, at

spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 5)), max_size=6)


@given(st.integers(1, 5), spans, st.integers(-5, 70), st.integers(-5, 70), st.integers(0, 20))
def test_it_is_the_schedule_without_what_the_spans_cover(step, recorded, after, until, limit) -> None:
    grid = Grid(step=step)
    pairs = [(at(first), at(first + length)) for first, length in recorded]
    covered = {minute for first, length in recorded for minute in range(first, first + length + 1)}
    schedule = Unrecorded(grid, pairs)
    expected = [at(minute) for minute in range(after + 1, until + 1) if minute % step == 0 and minute not in covered]

    assert schedule.instants(at(after), at(until), limit) == expected[:limit]
    assert schedule.count(at(after), at(until), limit) == (
        len(expected[:limit]),
        expected[:limit][-1] if expected[:limit] else None,
    )
    if expected:
        assert schedule.next_after(at(after)) == expected[0]


def test_an_end_of_the_schedule_is_an_end_here_too() -> None:
    schedule = Unrecorded(Grid(step=1, last=10), [(at(8), at(10))])

    assert schedule.next_after(at(6)) == at(7)
    assert schedule.next_after(at(7)) is None
