"""What planning takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from typing import Protocol

MISFIRE_GRACE = timedelta(seconds=60)
"""How late an instant may be with ``catch_up="none"`` and no start deadline: a slow poll is not an outage."""


class CatchUp(StrEnum):
    """What becomes of instants that passed while nobody planned."""

    LATEST = "latest"
    ALL = "all"
    NONE = "none"


class Timetable(Protocol):
    """What planning asks of a schedule. All instants are aware UTC datetimes."""

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first instant strictly later, None when there is none."""

    def instants(self, after: datetime, until: datetime, limit: int) -> list[datetime]:
        """Return the first ``limit`` instants with ``after < instant <= until``, oldest first."""

    def count(self, after: datetime, until: datetime, limit: int) -> tuple[int, datetime | None]:
        """Count what ``instants`` would return, and name the last of it."""


class Exclusion(Protocol):
    """A named set of times at which a job does not run."""

    @property
    def name(self) -> str: ...

    def covers(self, instant: datetime) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much one plan of one job may do at most.

    ``max_catch_up`` runs are made, ``max_instants`` instants looked at, ``max_entries`` rows written. Where a
    bound stops a plan, its ``next_run_at`` is still due and the next plan goes on from there.
    """

    max_catch_up: int = 100
    max_instants: int = 20_000
    max_entries: int = 1_000

    def __post_init__(self) -> None:
        if not 1 <= self.max_catch_up < self.max_instants or self.max_entries < 1:
            raise ValueError(f"Bounds need 1 <= max_catch_up < max_instants and 1 <= max_entries: {self!r}.")


DEFAULT_BOUNDS = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInput:
    """What a plan is made from. ``cursor`` is the first nominal instant that has no row yet."""

    schedule: Timetable
    cursor: datetime
    now: datetime
    catch_up: CatchUp = CatchUp.LATEST
    start_deadline: timedelta | None = None
    ends_at: datetime | None = None
    spread_offset: timedelta = timedelta(0)
    excludes: Sequence[Exclusion] = ()

    @property
    def until(self) -> datetime:
        """The end of what is due: now, or before it the last instant that exists at all."""
        return self.now if self.ends_at is None else min(self.now, self.ends_at)

    @property
    def patience(self) -> timedelta | None:
        """How late an instant may still become a run; None: however late."""
        if self.start_deadline is None and self.catch_up == CatchUp.NONE:
            return MISFIRE_GRACE
        return self.start_deadline

    @property
    def late_before(self) -> datetime | None:
        """Instants before this one come too late; None when no instant does."""
        return None if self.patience is None else self.now - self.spread_offset - self.patience

    def calendar_of(self, instant: datetime) -> str | None:
        """Return the name of the first calendar that excludes the instant."""
        return next((calendar.name for calendar in self.excludes if calendar.covers(instant)), None)


@dataclass(frozen=True, slots=True)
class Due:
    """An instant that becomes a run."""

    instant: datetime

    @property
    def first(self) -> datetime:
        return self.instant

    @property
    def last(self) -> datetime:
        return self.instant

    @property
    def count(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Missed:
    """Instants in a row that don't run, since they came too late or a later one stands for them."""

    first: datetime
    last: datetime
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Instants in a row that don't run, since a calendar excludes them."""

    first: datetime
    last: datetime
    count: int
    reason: str


Entry = Due | Missed | Skipped
Verdict = tuple[type[Missed] | type[Skipped], str] | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The rows to write, oldest first, none reaching into another, and the first instant left out."""

    entries: tuple[Entry, ...]
    next_run_at: datetime | None

    def without_runs(self, reason: str) -> Plan:
        """Let all be Missed for this reason, but for what a calendar excludes; one entry for each stretch."""
        entries: list[Entry] = []
        for excluded, stretch in groupby(self.entries, key=lambda entry: isinstance(entry, Skipped)):
            found = list(stretch)
            count = sum(entry.count for entry in found)
            entries += found if excluded else [Missed(found[0].first, found[-1].last, count, reason)]
        return Plan(tuple(entries), self.next_run_at)
