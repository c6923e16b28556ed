"""A time-zone database update moved the instant that a job's cursor stands for."""

from __future__ import annotations

from datetime import datetime, timedelta

from django_leasejobs.durations import A_MOMENT

from .planning_values import Timetable

LARGEST_SHIFT = timedelta(hours=3)
QUARTER = timedelta(minutes=15)
"""Offsets differ by multiples of this, so a cursor that is off by anything else was written by hand."""


def instant_meant(schedule: Timetable, cursor: datetime, planned_until: datetime | None) -> datetime:
    """Return the instant that a due cursor means by the zone's rules of today.

    It was reckoned by those of then. Where it is none of the schedule's instants any more, the nearest one that a
    change of the offset explains takes its place: followed as it is, a job could run twice on the day. Any other
    cursor is taken at its word.
    """
    if schedule.next_after(cursor - A_MOMENT) == cursor:
        return cursor
    earliest = cursor - LARGEST_SHIFT - A_MOMENT
    moved = schedule.next_after(earliest if planned_until is None else max(earliest, planned_until))
    if moved is None or abs(moved - cursor) > LARGEST_SHIFT or (moved - cursor) % QUARTER:
        return cursor
    return moved
