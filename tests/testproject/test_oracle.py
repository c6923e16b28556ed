from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from testproject.demo.oracle import Row, judge_effects, judge_instants

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


DUE = {"a": [at(0), at(2), at(4)], "b": [at(1)]}
RIGHT = [Row("a", at(0), at(0)), Row("a", at(2), at(2)), Row("a", at(4), at(4)), Row("b", at(1), at(1))]


def test_one_row_for_each_instant_is_right() -> None:
    found = judge_instants(DUE, RIGHT)
    assert (found.looked_at, found.lost, found.doubled) == (4, (), ())


def test_a_row_may_stand_for_several_instants() -> None:
    found = judge_instants(DUE, [Row("a", at(0), at(4), instants=3), Row("b", at(1), at(1))])
    assert (found.lost, found.doubled) == ((), ())


@pytest.mark.parametrize("missing", range(len(RIGHT)))
def test_an_instant_without_a_row_is_lost(missing: int) -> None:
    found = judge_instants(DUE, [row for number, row in enumerate(RIGHT) if number != missing])
    assert found.lost == (f"{RIGHT[missing].job}: no row for {RIGHT[missing].first}",)
    assert not found.doubled


@pytest.mark.parametrize(
    "extra",
    [
        RIGHT[1],
        Row("a", at(0), at(2), instants=2),
        Row("a", at(3), at(3)),
        Row("unheard of", at(0), at(0)),
        Row("b", at(60), at(60)),
    ],
)
def test_a_row_that_nothing_fell_due_for_is_doubled(extra: Row) -> None:
    found = judge_instants(DUE, [*RIGHT, extra])
    assert found.doubled
    assert not found.lost


@pytest.mark.parametrize(("instants", "lost", "doubled"), [(2, 1, 0), (4, 0, 1)])
def test_a_row_that_miscounts_its_instants_is_found_out(instants: int, lost: int, doubled: int) -> None:
    found = judge_instants(DUE, [Row("a", at(0), at(4), instants=instants), RIGHT[3]])
    assert (len(found.lost), len(found.doubled)) == (lost, doubled)


def test_each_wanted_effect_once_is_right() -> None:
    found = judge_effects({1: ["x", "y"], 2: []}, [(1, "y"), (1, "x")])
    assert (found.looked_at, found.lost, found.doubled) == (2, (), ())


def test_an_effect_that_did_not_happen_is_lost() -> None:
    assert judge_effects({1: ["x", "y"]}, [(1, "x")]).lost == ("run 1: y was never done",)


@pytest.mark.parametrize("extra", [(1, "x"), (1, "z"), (2, "x"), (3, "x")])
def test_an_effect_too_many_is_doubled(extra: tuple[int, str]) -> None:
    found = judge_effects({1: ["x"], 2: []}, [(1, "x"), extra])
    assert len(found.doubled) == 1
    assert not found.lost
