"""Filling a range keeps the books: each instant has exactly one row before and after."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from django_leasejobs.policies.backfilling import Filling, Row, Stretch, fill

from .grid import Grid, Minutes, at

GRID = Grid(step=1)


def asked(first: int, last: int) -> list[datetime]:
    return [at(minute) for minute in range(first, last + 1)]


def row(key: int, first: int, last: int | None = None, *, ran: bool = False, count: int | None = None) -> Row:
    last = first if last is None else last
    return Row(key, at(first), at(last), last - first + 1 if count is None else count, ran)


def filled(*minutes: int, rewritten=None, ran=0, excluded=0, unclear=0) -> Filling:
    return Filling(
        instants=tuple(at(minute) for minute in minutes),
        rewritten=rewritten or {},
        ran=ran,
        excluded=excluded,
        unclear=unclear,
    )


def stretch(first: int, last: int) -> Stretch:
    return Stretch(at(first), at(last), last - first + 1)


def test_what_has_no_row_is_filled() -> None:
    assert fill(GRID, asked(3, 5), []) == filled(3, 4, 5)


def test_a_run_is_left_alone_and_a_row_without_one_goes() -> None:
    assert fill(GRID, asked(3, 5), [row(1, 3, ran=True), row(2, 4)]) == filled(4, 5, rewritten={2: ()}, ran=1)


def test_a_long_row_is_split_round_what_is_filled() -> None:
    split = {1: (stretch(0, 3), stretch(7, 9))}

    assert fill(GRID, asked(4, 6), [row(1, 0, 9)]) == filled(4, 5, 6, rewritten=split)


def test_runs_within_a_long_row_are_not_part_of_it() -> None:
    rows = [row(1, 0, 9, count=8), row(2, 4, ran=True), row(3, 5, ran=True)]

    assert fill(GRID, asked(3, 7), rows) == filled(3, 6, 7, rewritten={1: (stretch(0, 2), stretch(8, 9))}, ran=2)


def test_a_row_that_counts_other_instants_is_unclear() -> None:
    assert fill(GRID, asked(3, 7), [row(1, 0, 9, count=5)]) == filled(unclear=5)


def test_excluded_instants_stay_where_they_are() -> None:
    even = Minutes("even", lambda minute: minute % 2 == 0)
    left = (Stretch(at(0), at(0), 1), Stretch(at(2), at(2), 1), Stretch(at(4), at(5), 2))

    assert fill(GRID, asked(0, 3), [row(1, 0, 5)], [even]) == filled(1, 3, rewritten={1: left}, excluded=2)


@st.composite
def histories(draw):
    """Forty minutes cut into runs, long rows and nothing."""
    rows, minute = [], 0
    while minute < 40:
        length = draw(st.integers(1, 9))
        kind = draw(st.sampled_from(["runs", "missed", "nothing"]))
        if kind == "missed":
            rows.append(row(len(rows), minute, minute + length - 1))
        elif kind == "runs":
            rows += [row(len(rows) + number, minute + number, ran=True) for number in range(length)]
        minute += length
    return rows


@given(histories(), st.integers(0, 40), st.integers(0, 40), st.sets(st.integers(0, 40)))
def test_every_instant_has_one_row_afterwards_and_a_second_filling_finds_nothing(rows, first, last, days_off) -> None:
    calendar = Minutes("off", lambda minute: minute in days_off)

    made = fill(GRID, asked(first, last), rows, [calendar])

    after = [item for item in rows if item.key not in made.rewritten]
    after += [Row(1000 + n, s.first, s.last, s.count, False) for n, s in enumerate(sum(made.rewritten.values(), ()))]
    after += [Row(2000 + n, instant, instant, 1, True) for n, instant in enumerate(made.instants)]
    after.sort(key=lambda item: item.first)
    assert all(before.last < following.first for before, following in pairwise(after))
    new = sum(all(not item.first <= instant <= item.last for item in rows) for instant in made.instants)
    assert sum(item.count for item in after) == sum(item.count for item in rows) + new
    assert made.ran + made.excluded + made.unclear + len(made.instants) == len(asked(first, last))
    again = fill(GRID, asked(first, last), after, [calendar])
    assert (again.instants, again.rewritten) == ((), {})
