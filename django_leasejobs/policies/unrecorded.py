"""A schedule without the instants that have a row already."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import accumulate, islice

from .planning_values import Timetable

Span = tuple[datetime, datetime]


class Unrecorded:
    """The instants of a timetable outside ``spans``, each from its first to its last recorded instant."""

    def __init__(self, schedule: Timetable, spans: Iterable[Span]) -> None:
        self._schedule = schedule
        ordered = sorted(spans)
        self._firsts = [first for first, _ in ordered]
        # How far the spans up to each one reach: a long one may hold others.
        self._reach = list(accumulate((last for _, last in ordered), max))

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first instant strictly later that has no row, None when there is none."""
        found = self._schedule.next_after(instant)
        while found is not None and (last := self._recorded_until(found)) is not None:
            found = self._schedule.next_after(last)
        return found

    def instants(self, after: datetime, until: datetime, limit: int) -> list[datetime]:
        """Return the first ``limit`` instants with ``after < instant <= until``, oldest first."""
        return list(islice(self._walk(after, until), limit))

    def count(self, after: datetime, until: datetime, limit: int) -> tuple[int, datetime | None]:
        """Count what ``instants`` would return, and name the last of it."""
        found = self.instants(after, until, limit)
        return len(found), found[-1] if found else None

    def _walk(self, after: datetime, until: datetime) -> Iterator[datetime]:
        instant = self.next_after(after)
        while instant is not None and instant <= until:
            yield instant
            instant = self.next_after(instant)

    def _recorded_until(self, instant: datetime) -> datetime | None:
        position = bisect_right(self._firsts, instant) - 1
        last = self._reach[position] if position >= 0 else None
        return last if last is not None and instant <= last else None
