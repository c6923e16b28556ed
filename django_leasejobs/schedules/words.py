"""Schedules in English. Plain cases read like speech; the rest is spelled out field by field."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django_leasejobs.durations import format_duration
from django_leasejobs.schedules.cron_fields import LAST, CronFields, Field

_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    *("", "January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", LAST: "last"}
_UNITS = {
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}
_MOST_TIMES = 6


def describe_cron(fields: CronFields) -> str:
    """Say when the five fields fire: ``at 02:00 on weekdays``."""
    times, days, months = _times(fields.hours, fields.minutes), _days(fields), _months(fields.months)
    if not days and times.startswith("at "):
        days = "every day"
    if days and months and not fields.both_days:
        months = f", {months}"
    return " ".join(part for part in (times, days, months) if part).replace(" ,", ",")


def describe_interval(interval: timedelta) -> str:
    """Say how often: ``every 15 minutes``, ``every 1h30m``."""
    for unit, size in _UNITS.items():
        number, rest = divmod(interval, size)
        if number and not rest:
            return f"every {unit}" if number == 1 else f"every {number} {unit}s"
        if number:
            break
    return f"every {format_duration(interval)}"


def _times(hours: tuple[int, ...], minutes: tuple[int, ...]) -> str:
    every_hour = len(hours) == 24
    hour_step, minute_step = _even_step(hours, 24), _even_step(minutes, 60)
    if every_hour and minute_step:
        return "every minute" if minute_step == 1 else f"every {minute_step} minutes"
    if every_hour:
        return "every hour" if minutes == (0,) else f"every hour at {_minutes(minutes)}"
    if len(minutes) == 1 and hour_step and len(hours) > 2:
        return f"every {hour_step} hours" + ("" if minutes == (0,) else f" at {_minutes(minutes)}")
    if len(hours) * len(minutes) <= _MOST_TIMES:
        return f"at {_listed([f'{hour:02}:{minute:02}' for hour in hours for minute in minutes])}"
    if minute_step and _is_run(hours):
        often = "every minute" if minute_step == 1 else f"every {minute_step} minutes"
        return f"{often} from {hours[0]:02}:{minutes[0]:02} to {hours[-1]:02}:{minutes[-1]:02}"
    if len(minutes) == 1 and _is_run(hours):
        return f"every hour from {hours[0]:02}:{minutes[0]:02} to {hours[-1]:02}:{minutes[0]:02}"
    return f"at {_minutes(minutes)} of {_numbered('hour', hours)}"


def _minutes(minutes: tuple[int, ...]) -> str:
    return "every minute" if len(minutes) == 60 else _numbered("minute", minutes)


def _days(fields: CronFields) -> str:
    by_date, by_weekday = _dates(fields.day), _weekdays(fields.weekday)
    if not fields.both_days:
        every = not by_date or not by_weekday
        return "" if every else f"on {by_date} and also on {by_weekday}"
    if by_date and by_weekday:
        return f"on {by_date}, but only on {by_weekday}"
    return f"on {by_date or by_weekday}" if by_date or by_weekday else ""


def _dates(field: Field) -> str:
    """Say which days of the month; nothing for all of them."""
    if len(field.numbers) == 31:
        return ""
    parts = [_numbered("day", sorted(field.numbers))] if field.numbers else []
    parts += [f"the weekday nearest to day {day}" for day in sorted(field.nearest)]
    if field.last_day:
        parts.append("the last day")
    return f"{_listed(parts)} of the month"


def _weekdays(field: Field) -> str:
    """Say which days of the week; nothing for all of them."""
    plain = sorted(field.numbers, key=lambda day: (day - 1) % 7)
    if len(plain) == 7:
        return ""
    if plain == [1, 2, 3, 4, 5]:
        parts = ["weekdays"]
    elif plain == [6, 0]:
        parts = ["weekends"]
    else:
        parts = [f"{_WEEKDAYS[day]}s" for day in plain]
    parts += [
        f"the {_ORDINALS[nth]} {_WEEKDAYS[day]} of the month"
        for day, nth in sorted(field.nth, key=lambda pair: (pair[1] == LAST, pair[1], pair[0]))
    ]
    return _listed(parts)


def _months(months: tuple[int, ...]) -> str:
    if len(months) == 12:
        return ""
    if len(months) > 2 and _is_run(months):
        return f"from {_MONTHS[months[0]]} to {_MONTHS[months[-1]]}"
    return f"in {_listed([_MONTHS[month] for month in months])}"


def _numbered(noun: str, numbers: Sequence[int]) -> str:
    if len(numbers) > 2 and _is_run(numbers):
        return f"{noun}s {numbers[0]} to {numbers[-1]}"
    return f"{noun}{'s' if len(numbers) > 1 else ''} {_listed([str(number) for number in numbers])}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _is_run(numbers: Sequence[int]) -> bool:
    return len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1


def _even_step(numbers: Sequence[int], size: int) -> int | None:
    """Return the step of numbers that go round the field evenly from 0; a single number has none."""
    step = size // len(numbers)
    even = len(numbers) > 1 and size % step == 0 and tuple(numbers) == tuple(range(0, size, step))
    return step if even else None
