"""The fixed grid of ``@every``: plain arithmetic from an anchor, so it drifts with nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django_leasejobs.durations import parse_duration
from django_leasejobs.exceptions import DurationError, ScheduleError
from django_leasejobs.schedules.base import Schedule, in_utc
from django_leasejobs.schedules.words import describe_interval

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SHORTEST = timedelta(seconds=1)


class EverySchedule(Schedule):
    """An instant each ``interval``, counted in elapsed time from ``anchor`` in both directions."""

    __slots__ = ("anchor", "interval", "text", "timezone")

    def __init__(self, text: str, timezone: str, interval: timedelta, anchor: datetime) -> None:
        self.text = text
        self.timezone = timezone
        self.interval = interval
        self.anchor = anchor

    def next_after(self, instant: datetime) -> datetime | None:
        instant = in_utc(instant)
        try:
            return self.anchor + ((instant - self.anchor) // self.interval + 1) * self.interval
        except OverflowError:
            return None

    def count(self, after: datetime, until: datetime, limit: int) -> tuple[int, datetime | None]:
        first = self.next_after(after)
        if first is None or first > until or limit <= 0:
            return 0, None
        number = min((in_utc(until) - first) // self.interval + 1, limit)
        return number, first + (number - 1) * self.interval

    def describe(self) -> str:
        since = "" if self.anchor == EPOCH else f", counted from {self.anchor:%Y-%m-%d %H:%M:%S} UTC"
        return f"{describe_interval(self.interval)}{since}"


def read_every(text: str, timezone: str, anchor: datetime | None) -> EverySchedule:
    """Read what stands after ``@every``; raise ScheduleError for no interval or one below a second."""
    argument = text.partition(" ")[2].strip()
    if not argument:
        raise ScheduleError("'@every' needs an interval; write for example '@every 15m'", field="interval")
    try:
        interval = parse_duration(argument)
    except DurationError as error:
        raise ScheduleError(str(error), field="interval") from error
    if interval < SHORTEST:
        raise ScheduleError(f"{argument!r} is too short; a second is the least", field="interval")
    return EverySchedule(text, timezone, interval, EPOCH if anchor is None else in_utc(anchor))
