"""Which instants of a range get a run, and what is left of the rows that said they had none."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django_leasejobs.durations import A_MOMENT

from .planning_values import Exclusion, Timetable


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the run table: a run of one instant (``ran``), or ``count`` instants that have none."""

    key: int
    first: datetime
    last: datetime
    count: int
    ran: bool


@dataclass(frozen=True, slots=True)
class Stretch:
    """Instants in a row that one row stands for."""

    first: datetime
    last: datetime
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """``instants`` get a run. ``rewritten``: what is left of the rows that stood for them; nothing means that it goes.

    The others of the range: how many have a run (``ran``), fall into a calendar that the job excludes
    (``excluded``), or lie within a row that counts instants of an earlier schedule (``unclear``).
    """

    instants: tuple[datetime, ...]
    rewritten: Mapping[int, tuple[Stretch, ...]]
    ran: int
    excluded: int
    unclear: int


def fill(
    schedule: Timetable, instants: Sequence[datetime], rows: Iterable[Row], excludes: Sequence[Exclusion] = ()
) -> Filling:
    """Decide about each of ``instants``, a range of the schedule's own, oldest first.

    ``rows`` are all rows that lie in the range or reach into it, and those between the ends of the latter.
    """
    rows = list(rows)
    single = {row.first: row for row in rows if row.count == 1}
    spans = _Spans(schedule, [row for row in rows if row.count > 1], single.keys())
    filled: list[datetime] = []
    touched: dict[int, Row] = {}
    ran = excluded = unclear = 0
    for instant in instants:
        row = single.get(instant) or spans.at(instant)
        if row is not None and row.ran:
            ran += 1
        elif any(calendar.covers(instant) for calendar in excludes):
            excluded += 1
        elif row is not None and row.count > 1 and instant not in spans.instants_of(row):
            unclear += 1
        else:
            filled.append(instant)
            if row is not None:
                touched[row.key] = row
    taken = set(filled)
    rewritten = {key: spans.without(row, taken) for key, row in touched.items()}
    return Filling(instants=tuple(filled), rewritten=rewritten, ran=ran, excluded=excluded, unclear=unclear)


class _Spans:
    """The rows that stand for many instants each, and which instants those are."""

    def __init__(self, schedule: Timetable, rows: list[Row], recorded: Set[datetime]) -> None:
        self._schedule = schedule
        self._rows = sorted(rows, key=lambda row: row.first)
        self._firsts = [row.first for row in self._rows]
        self._recorded = recorded
        self._known: dict[int, dict[datetime, None]] = {}

    def at(self, instant: datetime) -> Row | None:
        position = bisect_right(self._firsts, instant) - 1
        row = self._rows[position] if position >= 0 else None
        return row if row is not None and instant <= row.last else None

    def instants_of(self, row: Row) -> dict[datetime, None]:
        """Return the row's instants, in order; none when the schedule doesn't yield as many as it counts."""
        if row.key not in self._known:
            within = sum(row.first <= instant <= row.last for instant in self._recorded)
            found = self._schedule.instants(row.first - A_MOMENT, row.last, row.count + within + 1)
            own = dict.fromkeys(instant for instant in found if instant not in self._recorded)
            self._known[row.key] = own if len(own) == row.count else {}
        return self._known[row.key]

    def without(self, row: Row, taken: Set[datetime]) -> tuple[Stretch, ...]:
        """Return the stretches that are left of a row when its ``taken`` instants are out."""
        left = []
        own = self.instants_of(row) if row.count > 1 else (row.first,)
        for is_taken, group in groupby(own, key=taken.__contains__):
            stretch = list(group)
            if not is_taken:
                left.append(Stretch(stretch[0], stretch[-1], len(stretch)))
        return tuple(left)
