"""Which instants of a schedule are due, and what catch-up, deadlines and calendars make of each of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from django_leasejobs.durations import A_MOMENT, format_duration

from .planning_values import (
    DEFAULT_BOUNDS,
    Bounds,
    CatchUp,
    Due,
    Entry,
    Missed,
    Plan,
    PlanInput,
    Skipped,
    Timetable,
    Verdict,
)


def plan(given: PlanInput, bounds: Bounds = DEFAULT_BOUNDS) -> Plan:
    """Put each due instant, ``cursor`` to ``now``, into exactly one entry, as far as the bounds allow.

    - An excluded instant is Skipped, whatever else holds for it.
    - One whose ``start_deadline`` (counted from the instant plus its spread) has passed is Missed.
    - ``latest``: the newest of the others is Due, the rest is Missed.
    - ``all``: the newest ``max_catch_up`` are Due, oldest first, and the older rest is Missed: after a long
      outage the freshest are worth most, and the oldest would only delay them.
    - ``none``: one later than MISFIRE_GRACE (or the deadline, if there is one) is Missed; then as ``all``.

    Where ``max_instants`` ends a plan early, those that could still be the newest are left to the next plan:
    one outage makes no more runs than the policy says, however many plans it takes. Only where a whole plan
    holds nothing but such candidates and excluded instants, they become Due so that the cursor moves.
    """
    entries, first = _count_late(given, bounds.max_instants)
    budget = bounds.max_instants - sum(entry.count for entry in entries)
    following = first
    if first is not None and first <= given.until and budget > 0:
        keep = 1 if given.catch_up == CatchUp.LATEST else bounds.max_catch_up
        more, following = _weigh(given, first, budget=budget, keep=keep, moved=bool(entries))
        entries += more
    if len(entries) > bounds.max_entries:
        following = entries[bounds.max_entries].first
        entries = entries[: bounds.max_entries]
    return Plan(tuple(entries), _unless_ended(following, given.ends_at))


def first_instant(
    schedule: Timetable,
    *,
    now: datetime,
    starts_at: datetime | None = None,
    planned_until: datetime | None = None,
    ends_at: datetime | None = None,
) -> datetime | None:
    """Return the first instant after ``now`` and after all recorded ones, None when there is none to come.

    ``starts_at`` and ``ends_at`` may themselves be instants.
    """
    lower = [now]
    if planned_until is not None:
        lower.append(planned_until)
    if starts_at is not None:
        lower.append(starts_at - A_MOMENT)
    return _unless_ended(schedule.next_after(max(lower)), ends_at)


def _count_late(given: PlanInput, limit: int) -> tuple[list[Entry], datetime | None]:
    """Account for what is too late by counting alone, where no calendar asks to see each instant.

    Returns the entry, if any, and the first instant that it leaves out.
    """
    late_before = given.late_before
    if given.excludes or late_before is None or given.cursor > given.until or given.cursor >= late_before:
        return [], given.cursor
    until = min(given.until, late_before - A_MOMENT)
    more, last = given.schedule.count(given.cursor, until, limit - 1)
    last = last or given.cursor
    return [Missed(given.cursor, last, more + 1, _late_reason(given))], given.schedule.next_after(last)


def _weigh(
    given: PlanInput, first: datetime, *, budget: int, keep: int, moved: bool
) -> tuple[list[Entry], datetime | None]:
    """Judge each instant from ``first`` on; return the entries and the first instant that they leave out."""
    instants = [first, *given.schedule.instants(first, given.until, budget - 1)]
    following = given.schedule.next_after(instants[-1])
    verdicts = _verdicts(given, instants)
    candidates = [position for position, verdict in enumerate(verdicts) if verdict is None]
    kept = candidates[-keep:]
    stands_for_them = f"the instant of {instants[kept[-1]].isoformat()}" if kept else ""
    if following is not None and following <= given.until and kept and (moved or kept[0] > 0):
        stands_for_them = "a later instant"
        following = instants[kept[0]]
        del instants[kept[0] :], verdicts[kept[0] :]
    for position in candidates[:-keep]:
        verdicts[position] = (Missed, _passed_over_reason(keep, stands_for_them))
    return _entries(instants, verdicts), following


def _verdicts(given: PlanInput, instants: Iterable[datetime]) -> list[Verdict]:
    """Say why each instant doesn't run; None for those that may."""
    late_before = given.late_before
    late = (Missed, _late_reason(given))
    verdicts: list[Verdict] = []
    for instant in instants:
        if (name := given.calendar_of(instant)) is not None:
            verdicts.append((Skipped, f"excluded by the calendar {name!r}"))
        else:
            verdicts.append(late if late_before is not None and instant < late_before else None)
    return verdicts


def _entries(instants: Iterable[datetime], verdicts: Iterable[Verdict]) -> list[Entry]:
    """Make one entry of each stretch of instants with the same verdict, and one of each that runs."""
    entries: list[Entry] = []
    for verdict, pairs in groupby(zip(instants, verdicts, strict=True), key=itemgetter(1)):
        stretch = [instant for instant, _ in pairs]
        if verdict is None:
            entries.extend(map(Due, stretch))
        else:
            kind, reason = verdict
            entries.append(kind(stretch[0], stretch[-1], len(stretch), reason))
    return entries


def _late_reason(given: PlanInput) -> str:
    if given.patience is None:
        return ""
    late = f"more than {format_duration(given.patience)} late"
    return f"{late}, {'not caught up' if given.start_deadline is None else 'past the start deadline'}"


def _passed_over_reason(keep: int, stands_for_it: str) -> str:
    if keep > 1:
        return f"not among the newest {keep}, the most that are caught up"
    return f"coalesced into {stands_for_it}"


def _unless_ended(instant: datetime | None, ends_at: datetime | None) -> datetime | None:
    return None if instant is not None and ends_at is not None and instant > ends_at else instant
