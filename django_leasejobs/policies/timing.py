"""Whether all that says when a job runs makes sense together: the same check for code, admin and commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

from django_leasejobs.durations import format_duration
from django_leasejobs.exceptions import JobDefinitionError, ScheduleError
from django_leasejobs.schedules import Schedule, parse

from .limits import LONGEST_SCHEDULE
from .planning import first_instant

ZERO = timedelta(0)
# Enough instants to meet the shortest gap of ordinary expressions; the start is as good as any.
GAPS_LOOKED_AT = 100
LONG_AGO = datetime(1900, 1, 1, tzinfo=UTC)
SOME_DAY = datetime(2026, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The values of a job that say when it runs."""

    schedule: str = ""
    timezone: str = "UTC"
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    spread: timedelta = ZERO
    start_deadline: timedelta | None = None
    exclude: Sequence[str] = ()


def check_timing(timing: Timing, *, name: str, now: datetime | None = None) -> Schedule:
    """Return the schedule; raise ScheduleError or JobDefinitionError, whose ``field`` says which value is at fault.

    ``name`` is the job's. With ``now``, a schedule without an instant to come is refused too; code that names a
    date must still be importable when the date has passed, so it leaves that out.
    """
    _check_window(timing)
    if len(timing.schedule) > LONGEST_SCHEDULE:
        raise ScheduleError(f"at most {LONGEST_SCHEDULE} characters are possible, not {len(timing.schedule)}")
    schedule = parse(timing.schedule, timing.timezone, name=name, anchor=timing.starts_at)
    if not timing.schedule.strip():
        _refuse_without_schedule(timing)
        return schedule
    if timing.spread > ZERO and (gap := _shortest_gap(schedule)) is not None and timing.spread >= gap:
        raise JobDefinitionError(
            f"{format_duration(timing.spread)} is not shorter than the time between two instants of the schedule,"
            f" {format_duration(gap)}.",
            field="spread",
        )
    _check_what_is_to_come(timing, schedule, now)
    return schedule


def _check_window(timing: Timing) -> None:
    given: dict[str, object] = {"starts_at": timing.starts_at, "ends_at": timing.ends_at}
    for field, value in given.items():
        if value is not None and (not isinstance(value, datetime) or value.utcoffset() is None):
            raise JobDefinitionError(f"an aware datetime is needed, not {value!r}.", field=field)
    if timing.starts_at is not None and timing.ends_at is not None and timing.ends_at <= timing.starts_at:
        raise JobDefinitionError(
            f"{timing.ends_at.isoformat()} is not after starts_at, {timing.starts_at.isoformat()}.", field="ends_at"
        )


def _refuse_without_schedule(timing: Timing) -> None:
    for field in ("start_deadline", "starts_at", "ends_at", "exclude", "spread"):
        if getattr(timing, field):
            raise JobDefinitionError("it needs a schedule; this job has none.", field=field)


def _shortest_gap(schedule: Schedule) -> timedelta | None:
    instants = islice(schedule.walk(SOME_DAY), GAPS_LOOKED_AT)
    return min((later - earlier for earlier, later in pairwise(instants)), default=None)


def _check_what_is_to_come(timing: Timing, schedule: Schedule, now: datetime | None) -> None:
    """Refuse a window without any instant and, where the time is known, one that has passed."""
    if now is None and timing.starts_at is None:
        return
    after, start = now or LONG_AGO, timing.starts_at
    if first_instant(schedule, now=after, starts_at=start, ends_at=timing.ends_at) is not None:
        return
    at_fault = {
        "ends_at": timing.ends_at if first_instant(schedule, now=after, starts_at=start) is not None else None,
        "starts_at": start if schedule.next_after(after) is not None else None,
    }
    for field, value in at_fault.items():
        if value is not None:
            words = f"{value.isoformat()} leaves the schedule no instant: {schedule.describe()}."
            raise JobDefinitionError(words, field=field)
    raise ScheduleError(f"{timing.schedule!r} has no instant to come: {schedule.describe()}, is in the past")
