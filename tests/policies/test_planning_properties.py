"""Whatever the policy and the bounds, each due instant ends in exactly one entry."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from django_leasejobs.policies.planning import plan
from django_leasejobs.policies.planning_values import Bounds, CatchUp, Due, Entry, Missed, Plan, PlanInput, Skipped
from django_leasejobs.schedules import parse

from .grid import MINUTE, T0, Grid, Minutes, at

small_bounds = st.builds(
    lambda catch_up, more, entries: Bounds(max_catch_up=catch_up, max_instants=catch_up + more, max_entries=entries),
    st.integers(1, 6),
    st.integers(1, 30),
    st.sampled_from([1, 3, 1000]),
)
calendars = st.builds(
    lambda start, length, period: Minutes(
        f"{start}+{length}/{period}", lambda minute: start <= minute % period < start + length
    ),
    st.integers(0, 20),
    st.integers(1, 40),
    st.integers(2, 60),
)
optional_minutes = st.none() | st.integers(1, 90).map(lambda minutes: minutes * MINUTE)
inputs = st.builds(
    PlanInput,
    schedule=st.builds(Grid, step=st.integers(1, 7), last=st.none() | st.integers(0, 150)),
    cursor=st.integers(0, 20).map(at),
    now=st.integers(0, 200 * 60).map(lambda seconds: T0 + timedelta(seconds=seconds)),
    catch_up=st.sampled_from(CatchUp),
    start_deadline=optional_minutes,
    ends_at=st.none() | st.integers(0, 200).map(at),
    spread_offset=st.integers(0, 600).map(lambda seconds: timedelta(seconds=seconds)),
    excludes=st.lists(calendars, max_size=2),
)


def due_instants(given_: PlanInput) -> list[datetime]:
    until = min(given_.now, given_.ends_at or given_.now)
    if given_.cursor > until:
        return []
    return [given_.cursor, *given_.schedule.instants(given_.cursor, until, 10_000)]


def plan_to_the_end(given_: PlanInput, bounds: Bounds) -> list[Plan]:
    """Plan again and again until nothing is due, as the planner does; each plan must move the cursor."""
    plans = [plan(given_, bounds)]
    while (cursor := plans[-1].next_run_at) is not None and cursor <= given_.now:
        assert plans[-1].entries
        plans.append(plan(replace(given_, cursor=cursor), bounds))
    return plans


def entries_of(plans: list[Plan]) -> list[Entry]:
    return [entry for made in plans for entry in made.entries]


@settings(deadline=None)
@given(inputs, small_bounds)
def test_each_due_instant_ends_in_exactly_one_entry(given_: PlanInput, bounds: Bounds) -> None:
    """I2: no lost occurrence, none twice, and the entries never reach into each other."""
    entries = entries_of(plan_to_the_end(given_, bounds))

    instants = due_instants(given_)
    accounted = []
    for entry in entries:
        within = [instant for instant in instants if entry.first <= instant <= entry.last]
        assert (within[0], within[-1], len(within)) == (entry.first, entry.last, entry.count)
        accounted += within
    assert accounted == instants
    assert all(before.last < after.first for before, after in pairwise(entries))


@settings(deadline=None)
@given(inputs, small_bounds)
def test_each_plan_is_bounded_and_moves_strictly_on(given_: PlanInput, bounds: Bounds) -> None:
    keep = 1 if given_.catch_up == CatchUp.LATEST else bounds.max_catch_up

    for made in plan_to_the_end(given_, bounds):
        assert sum(entry.count for entry in made.entries) <= bounds.max_instants
        assert len(made.entries) <= bounds.max_entries
        assert sum(isinstance(entry, Due) for entry in made.entries) <= keep
        if made.entries and made.next_run_at is not None:
            assert made.next_run_at > made.entries[-1].last


@settings(deadline=None)
@given(inputs, small_bounds)
def test_an_instant_is_skipped_exactly_when_a_calendar_covers_it(given_: PlanInput, bounds: Bounds) -> None:
    covered = {
        instant for instant in due_instants(given_) if any(calendar.covers(instant) for calendar in given_.excludes)
    }

    for entry in entries_of(plan_to_the_end(given_, bounds)):
        within = {instant for instant in due_instants(given_) if entry.first <= instant <= entry.last}
        assert within <= covered if isinstance(entry, Skipped) else not within & covered


@settings(deadline=None)
@given(inputs.map(lambda value: replace(value, excludes=())), small_bounds)
def test_one_outage_makes_the_newest_runs_however_many_plans_it_takes(given_: PlanInput, bounds: Bounds) -> None:
    keep = 1 if given_.catch_up == CatchUp.LATEST else bounds.max_catch_up
    patience = given_.start_deadline or (timedelta(seconds=60) if given_.catch_up == CatchUp.NONE else None)
    in_time = [
        instant
        for instant in due_instants(given_)
        if patience is None or instant + given_.spread_offset + patience >= given_.now
    ]

    entries = entries_of(plan_to_the_end(given_, bounds))

    assert [entry.instant for entry in entries if isinstance(entry, Due)] == in_time[-keep:]


@settings(deadline=None)
@given(inputs)
def test_no_two_neighbours_could_be_one_row(given_: PlanInput) -> None:
    entries = plan(given_).entries

    for before, after in pairwise(entries):
        if isinstance(before, Missed | Skipped) and isinstance(after, Missed | Skipped):
            assert (type(before), before.reason) != (type(after), after.reason)


@settings(deadline=None)
@given(inputs)
def test_planning_twice_gives_the_same(given_: PlanInput) -> None:
    assert plan(given_) == plan(given_)


WEEK = timedelta(days=7)


@pytest.mark.parametrize(
    ("catch_up", "expected"),
    [
        (CatchUp.LATEST, [10_079, 1]),
        (CatchUp.ALL, [9_980, *[1] * 100]),
        (CatchUp.NONE, [10_079, 1]),
    ],
)
def test_a_week_of_a_minutely_crontab_line_is_one_plan(catch_up: CatchUp, expected: list[int]) -> None:
    asked = PlanInput(
        schedule=parse("* * * * *", "Europe/Berlin"),
        cursor=T0 + MINUTE,
        now=T0 + WEEK + timedelta(seconds=30),
        catch_up=catch_up,
    )

    made = plan(asked)

    assert [entry.count for entry in made.entries] == expected
    assert made.next_run_at == T0 + WEEK + MINUTE


@pytest.mark.parametrize("catch_up", CatchUp)
def test_six_hundred_thousand_instants_take_a_few_plans(catch_up: CatchUp) -> None:
    seconds = 600_000
    asked = PlanInput(
        schedule=parse("@every 1s"),
        cursor=T0,
        now=T0 + timedelta(seconds=seconds - 1),
        catch_up=catch_up,
    )

    plans = plan_to_the_end(asked, Bounds())

    assert len(plans) <= 31
    assert sum(entry.count for entry in entries_of(plans)) == seconds
    assert sum(isinstance(entry, Due) for entry in entries_of(plans)) == {"latest": 1, "all": 100, "none": 61}[catch_up]


def test_a_crontab_line_with_a_calendar_over_a_clock_change() -> None:
    """The clock change in Berlin on 29 March 2026 neither adds an instant nor loses one."""
    schedule = parse("*/30 * * * *", "Europe/Berlin")
    asked = PlanInput(
        schedule=schedule,
        cursor=schedule.next_after(at(0)) or at(0),
        now=T0 + timedelta(days=40),
        excludes=[Minutes("nights", lambda minute: minute // 60 % 24 < 6)],
    )

    made = plan(asked)

    assert sum(entry.count for entry in made.entries) == 40 * 48
    assert sum(isinstance(entry, Skipped) for entry in made.entries) == 41
