"""A schedule simple enough to reckon by hand: every whole number of minutes since ``T0``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

T0 = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def at(minutes: float) -> datetime:
    return T0 + minutes * MINUTE


@dataclass
class Grid:
    """Due each ``step`` minutes, up to minute ``last`` if that is given. Counts the instants it hands out."""

    step: int = 1
    last: int | None = None
    handed_out: int = field(default=0, compare=False)

    def next_after(self, instant: datetime) -> datetime | None:
        minutes = (instant - T0) // MINUTE // self.step * self.step + self.step
        return None if self.last is not None and minutes > self.last else at(minutes)

    def instants(self, after: datetime, until: datetime, limit: int) -> list[datetime]:
        found: list[datetime] = []
        instant = self.next_after(after)
        while instant is not None and instant <= until and len(found) < limit:
            found.append(instant)
            instant = self.next_after(instant)
        self.handed_out += len(found)
        return found

    def count(self, after: datetime, until: datetime, limit: int) -> tuple[int, datetime | None]:
        end = until if self.last is None else min(until, at(self.last))
        first = (after - T0) // MINUTE // self.step + 1
        number = max(0, min(limit, (end - T0) // MINUTE // self.step - first + 1))
        return number, at((first + number - 1) * self.step) if number else None


@dataclass(frozen=True)
class Minutes:
    """A calendar that covers the minutes since ``T0`` for which ``when`` holds."""

    name: str
    when: Callable[[int], bool]

    def covers(self, instant: datetime) -> bool:
        return self.when((instant - T0) // MINUTE)
