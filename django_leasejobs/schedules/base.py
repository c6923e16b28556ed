"""What every schedule answers: which instant is next, and what that means in words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import UTC, datetime


class Schedule(ABC):
    """When a job is due. A schedule never changes, does no I/O and asks no clock."""

    text: str
    timezone: str

    @property
    def follows_a_zone(self) -> bool:
        """Whether its instants are other ones when the rules of its time zone change."""
        return False

    @property
    def hashed(self) -> bool:
        """Whether its instants depend on the job's name."""
        return False

    @abstractmethod
    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first instant strictly later than this aware one, in UTC, or None when none is left."""

    @abstractmethod
    def describe(self) -> str:
        """Say in words when the schedule fires."""

    def touched_by_clock_change(self, instant: datetime) -> str | None:
        """Say what a change of the local clock did to this instant of the schedule; None: nothing."""
        return None

    def instants(self, after: datetime, until: datetime, limit: int) -> list[datetime]:
        """List the instants after ``after`` up to and with ``until``, oldest first, at most ``limit``."""
        found: list[datetime] = []
        for instant in self.walk(after):
            if instant > until or len(found) >= limit:
                break
            found.append(instant)
        return found

    def count(self, after: datetime, until: datetime, limit: int) -> tuple[int, datetime | None]:
        """Count the instants after ``after`` up to and with ``until``, at most ``limit``.

        Return the count and the last instant counted (None when the count is 0).
        """
        number, last = 0, None
        for instant in self.walk(after):
            if instant > until or number >= limit:
                break
            number, last = number + 1, instant
        return number, last

    def walk(self, after: datetime) -> Iterator[datetime]:
        """Yield the instants strictly later than ``after``, oldest first, without end where there is none."""
        instant = self.next_after(after)
        while instant is not None:
            yield instant
            instant = self.next_after(instant)


class ManualSchedule(Schedule):
    """The empty schedule: nothing is due by itself."""

    __slots__ = ("text", "timezone")

    def __init__(self, timezone: str) -> None:
        self.text = ""
        self.timezone = timezone

    def next_after(self, instant: datetime) -> None:
        return None

    def describe(self) -> str:
        return "only by hand"


def in_utc(instant: datetime) -> datetime:
    """Return the same instant in UTC; refuse a naive one, which would silently mean this machine's zone."""
    if instant.utcoffset() is None:
        raise ValueError(f"{instant!r} has no time zone; pass an aware datetime")
    return instant.astimezone(UTC)
