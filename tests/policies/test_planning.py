from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from django_leasejobs.policies.planning import first_instant, plan
from django_leasejobs.policies.planning_values import Bounds, CatchUp, Due, Entry, Missed, Plan, PlanInput, Skipped

from .grid import Grid, Minutes, at


def given(**over: Any) -> PlanInput:
    return PlanInput(**{"schedule": Grid(), "cursor": at(1), "now": at(5), "catch_up": CatchUp.LATEST, **over})


def due(*minutes: int) -> list[Entry]:
    return [Due(at(minute)) for minute in minutes]


def missed(first: int, last: int, reason: str, step: int = 1) -> Missed:
    return Missed(at(first), at(last), (last - first) // step + 1, reason)


def skipped(first: int, last: int, name: str) -> Skipped:
    return Skipped(at(first), at(last), last - first + 1, f"excluded by the calendar {name!r}")


INTO_5 = f"coalesced into the instant of {at(5).isoformat()}"
LATE_60 = "more than 1m late, not caught up"
PAST_2 = "more than 2m late, past the start deadline"
NEWEST_2 = "not among the newest 2, the most that are caught up"
TWO = timedelta(minutes=2)
FREEZE = Minutes("freeze", lambda minute: minute in (2, 3))
TAIL = Minutes("tail", lambda minute: minute >= 4)
ALWAYS = Minutes("always", lambda minute: True)

EXAMPLES = {
    "nothing is due before the cursor": (given(now=at(0.9)), [], at(1)),
    "the cursor itself is due at its very instant": (given(now=at(1)), due(1), at(2)),
    "latest, one due": (given(now=at(1.5)), due(1), at(2)),
    "latest, an outage": (given(), [missed(1, 4, INTO_5), *due(5)], at(6)),
    "all, an outage": (given(catch_up=CatchUp.ALL), due(1, 2, 3, 4, 5), at(6)),
    "none, fresh": (given(catch_up=CatchUp.NONE, now=at(1.5)), due(1), at(2)),
    "none, at the grace to the second": (given(catch_up=CatchUp.NONE, now=at(2)), due(1, 2), at(3)),
    "none, late": (given(catch_up=CatchUp.NONE, now=at(5.5)), [missed(1, 4, LATE_60), *due(5)], at(6)),
    "none, all late": (
        given(catch_up=CatchUp.NONE, schedule=Grid(step=10), cursor=at(10), now=at(35)),
        [missed(10, 30, LATE_60, step=10)],
        at(40),
    ),
    "none, the deadline instead of the grace": (
        given(catch_up=CatchUp.NONE, start_deadline=TWO),
        [missed(1, 2, PAST_2), *due(3, 4, 5)],
        at(6),
    ),
    "all, a deadline": (
        given(catch_up=CatchUp.ALL, start_deadline=TWO),
        [missed(1, 2, PAST_2), *due(3, 4, 5)],
        at(6),
    ),
    "latest, a deadline": (
        given(start_deadline=TWO),
        [missed(1, 2, PAST_2), missed(3, 4, INTO_5), *due(5)],
        at(6),
    ),
    "latest, all past the deadline": (
        given(start_deadline=TWO, schedule=Grid(step=10), cursor=at(10), now=at(35)),
        [missed(10, 30, PAST_2, step=10)],
        at(40),
    ),
    "the deadline counts from the spread instant": (
        given(catch_up=CatchUp.ALL, start_deadline=TWO, spread_offset=timedelta(seconds=90)),
        [missed(1, 1, PAST_2), *due(2, 3, 4, 5)],
        at(6),
    ),
    "a calendar": (
        given(catch_up=CatchUp.ALL, excludes=[FREEZE]),
        [*due(1), skipped(2, 3, "freeze"), *due(4, 5)],
        at(6),
    ),
    "latest runs the newest that no calendar excludes": (
        given(excludes=[TAIL]),
        [missed(1, 2, f"coalesced into the instant of {at(3).isoformat()}"), *due(3), skipped(4, 5, "tail")],
        at(6),
    ),
    "latest, a calendar in between": (
        given(excludes=[FREEZE]),
        [missed(1, 1, INTO_5), skipped(2, 3, "freeze"), missed(4, 4, INTO_5), *due(5)],
        at(6),
    ),
    "two calendars, the first named counts": (
        given(excludes=[FREEZE, ALWAYS]),
        [skipped(1, 1, "always"), skipped(2, 3, "freeze"), skipped(4, 5, "always")],
        at(6),
    ),
    "what is excluded is skipped, however late": (
        given(start_deadline=TWO, excludes=[ALWAYS]),
        [skipped(1, 5, "always")],
        at(6),
    ),
    "a late one that no calendar excludes": (
        given(start_deadline=TWO, excludes=[FREEZE]),
        [missed(1, 1, PAST_2), skipped(2, 3, "freeze"), missed(4, 4, INTO_5), *due(5)],
        at(6),
    ),
    "ends_at is the last instant": (
        given(catch_up=CatchUp.ALL, ends_at=at(3), now=at(9)),
        due(1, 2, 3),
        None,
    ),
    "nothing after ends_at": (given(catch_up=CatchUp.ALL, ends_at=at(2.5)), due(1, 2), None),
    "the end in sight": (given(now=at(1), ends_at=at(2)), due(1), at(2)),
    "ended before the cursor": (given(ends_at=at(0.5)), [], None),
    "once": (given(schedule=Grid(last=1)), due(1), None),
    "a cursor off the schedule's grid": (
        given(schedule=Grid(step=2), cursor=at(1), catch_up=CatchUp.ALL),
        due(1, 2, 4),
        at(6),
    ),
}


@pytest.mark.parametrize(("asked", "entries", "next_run_at"), EXAMPLES.values(), ids=EXAMPLES.keys())
def test_plan(asked: PlanInput, entries: list[Entry], next_run_at: Any) -> None:
    assert plan(asked) == Plan(tuple(entries), next_run_at)


def test_all_runs_the_newest_that_the_bound_allows_and_records_the_rest() -> None:
    made = plan(given(catch_up=CatchUp.ALL), Bounds(max_catch_up=2))

    assert made == Plan((missed(1, 3, NEWEST_2), *due(4, 5)), at(6))


def test_none_is_bounded_too_when_its_deadline_is_long() -> None:
    made = plan(
        given(catch_up=CatchUp.NONE, start_deadline=timedelta(hours=1)),
        Bounds(max_catch_up=2),
    )

    assert made == Plan((missed(1, 3, NEWEST_2), *due(4, 5)), at(6))


def test_a_plan_that_the_bound_stops_leaves_the_candidates_to_the_next_one() -> None:
    bounds = Bounds(max_catch_up=1, max_instants=3)

    first = plan(given(), bounds)
    second = plan(given(cursor=first.next_run_at), bounds)

    assert first == Plan((missed(1, 2, "coalesced into a later instant"),), at(3))
    assert second == Plan((missed(3, 4, INTO_5), *due(5)), at(6))


def test_the_bound_counts_late_instants_as_well() -> None:
    asked = given(catch_up=CatchUp.ALL, start_deadline=TWO, now=at(9))
    bounds = Bounds(max_catch_up=2, max_instants=4)

    first = plan(asked, bounds)

    assert first == Plan((missed(1, 4, PAST_2),), at(5))


def test_late_ones_and_candidates_share_the_bound() -> None:
    asked = given(catch_up=CatchUp.ALL, start_deadline=TWO, now=at(9))

    made = plan(asked, Bounds(max_catch_up=2, max_instants=7))

    assert made == Plan((missed(1, 6, PAST_2),), at(7))


def test_the_cursor_moves_even_when_a_freeze_fills_the_whole_plan() -> None:
    freeze = Minutes("freeze", lambda minute: minute > 1)
    bounds = Bounds(max_catch_up=1, max_instants=3)

    made = plan(given(excludes=[freeze], now=at(9)), bounds)

    assert made == Plan((*due(1), skipped(2, 3, "freeze")), at(4))


def test_the_rows_of_a_plan_are_bounded() -> None:
    odd = Minutes("odd", lambda minute: minute % 2 == 1)
    asked = given(excludes=[odd])

    first = plan(asked, Bounds(max_entries=2))

    assert first == Plan(
        (skipped(1, 1, "odd"), missed(2, 2, f"coalesced into the instant of {at(4).isoformat()}")), at(3)
    )


@pytest.mark.parametrize(
    "wrong",
    [{"max_catch_up": 0}, {"max_catch_up": 5, "max_instants": 5}, {"max_entries": 0}],
)
def test_bounds_that_would_stop_all_progress_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="Bounds need"):
        Bounds(**wrong)


def test_late_instants_are_counted_not_listed() -> None:
    grid = Grid()

    made = plan(given(schedule=grid, catch_up=CatchUp.NONE, now=at(10_080.5)))

    assert made == Plan((missed(1, 10_079, LATE_60), *due(10_080)), at(10_081))
    assert grid.handed_out == 0


def test_a_week_of_minutes_makes_one_missed_row_and_one_run() -> None:
    made = plan(given(now=at(10_080)))

    assert [entry.count for entry in made.entries] == [10_079, 1]
    assert made.next_run_at == at(10_081)


FIRST = {
    "after now": ({}, at(6)),
    "now itself is over": ({"now": at(6)}, at(7)),
    "the start may be an instant": ({"starts_at": at(9)}, at(9)),
    "a start in the past": ({"starts_at": at(2)}, at(6)),
    "a start between two instants": ({"starts_at": at(8.5)}, at(9)),
    "what is recorded is over": ({"planned_until": at(11)}, at(12)),
    "the clock was set back": ({"now": at(1), "planned_until": at(5)}, at(6)),
    "the end may be an instant": ({"ends_at": at(6)}, at(6)),
    "past the end": ({"ends_at": at(5.9)}, None),
    "nothing to come": ({"schedule": Grid(last=5)}, None),
}


@pytest.mark.parametrize(("over", "expected"), FIRST.values(), ids=FIRST.keys())
def test_first_instant(over: dict[str, Any], expected: Any) -> None:
    arguments = {"schedule": Grid(), "now": at(5.5), **over}

    assert first_instant(arguments.pop("schedule"), **arguments) == expected


def test_an_entry_of_one_instant_answers_like_the_others() -> None:
    entry = Due(at(3))

    assert (entry.first, entry.last, entry.count) == (at(3), at(3), 1)


def test_a_plan_without_runs_counts_all_as_missed_but_for_what_a_calendar_excludes() -> None:
    made = plan(
        given(catch_up=CatchUp.ALL, start_deadline=timedelta(minutes=5), cursor=at(-2), now=at(5.5), excludes=[FREEZE])
    )

    left = made.without_runs("it left the code")

    assert left.entries == (
        missed(-2, 1, "it left the code"),
        skipped(2, 3, "freeze"),
        missed(4, 5, "it left the code"),
    )
    assert left.next_run_at == made.next_run_at
    assert Plan((), at(9)).without_runs("gone") == Plan((), at(9))
