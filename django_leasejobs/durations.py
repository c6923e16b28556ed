"""Lengths of time as people write them: seconds, timedeltas, and text such as ``1h30m``."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from fractions import Fraction

from django_leasejobs.exceptions import DurationError

LONGEST = timedelta(days=36_525)
A_MOMENT = timedelta(microseconds=1)
"""The smallest step of time: an instant less this is the last one before it."""

_SECOND, _MILLISECOND = timedelta(seconds=1), timedelta(milliseconds=1)
_MICROSECONDS = {
    "w": 604_800_000_000,
    "d": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
}
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?", re.ASCII)
_PART = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(ms|[wdhms])", re.ASCII)
_ADVICE = "write seconds such as 90, or text such as '90s', '15m', '1h30m', '2d', '1w' or '250ms'"


def parse_duration(value: timedelta | int | float | str) -> timedelta:
    """Return the length of time that ``value`` stands for.

    Numbers, and text without a unit, are seconds. Units in text run from large to small, each at most once.
    Zero is a length; anything negative, empty, not finite or above 100 years raises DurationError.
    """
    if isinstance(value, bool):
        raise DurationError(f"{value!r} is not a length of time; {_ADVICE}")
    if isinstance(value, timedelta):
        return _bounded(value, value)
    if isinstance(value, (int, float)):
        return _from_seconds(value)
    if isinstance(value, str):
        return _from_text(value)
    raise DurationError(f"{value!r} is not a length of time; {_ADVICE}")


def format_duration(duration: timedelta) -> str:
    """Write a length of time the way parse_duration() reads it: ``1h30m``, ``250ms``, ``0s``."""
    rest = duration // A_MOMENT
    if rest < 0:
        return "-" + format_duration(-duration)
    written = []
    for unit in ("d", "h", "m", "s"):
        amount, rest = divmod(rest, _MICROSECONDS[unit])
        if amount:
            written.append(f"{amount}{unit}")
    if rest:
        written.append(f"{rest / 1000:g}ms")
    return "".join(written) or "0s"


def rough_duration(duration: timedelta) -> str:
    """Write a measured length of time for a person: whole seconds, and below one whole milliseconds, cut off."""
    size = abs(duration)
    unit = _SECOND if size >= _SECOND else _MILLISECOND
    size = size // unit * unit
    return format_duration(size if duration > timedelta(0) else -size)


def _from_seconds(value: int | float) -> timedelta:
    try:
        if math.isfinite(value):
            return _bounded(timedelta(seconds=value), value)
    except OverflowError:
        raise DurationError(f"{_shown(value)} is longer than 100 years") from None
    raise DurationError(f"{value!r} is not a length of time; {_ADVICE}")


def _from_text(value: str) -> timedelta:
    text = value.strip()
    if text.startswith("-"):
        raise DurationError(f"{_shown(value)} is negative; a length of time is 0 or more")
    if _NUMBER.fullmatch(text):
        return _rounded(Fraction(text) * _MICROSECONDS["s"], value)
    parts = _PART.findall(text)
    units = [unit for _, unit in parts]
    in_order = sorted(set(units), key=lambda unit: -_MICROSECONDS[unit])
    if not parts or "".join(number + unit for number, unit in parts) != text or units != in_order:
        raise DurationError(f"{_shown(value)} is not a length of time; {_ADVICE}")
    return _rounded(sum(Fraction(number) * _MICROSECONDS[unit] for number, unit in parts), value)


def _rounded(microseconds: Fraction | int, value: object) -> timedelta:
    if microseconds > LONGEST // A_MOMENT:
        raise DurationError(f"{_shown(value)} is longer than 100 years")
    return timedelta(microseconds=round(microseconds))


def _bounded(duration: timedelta, value: object) -> timedelta:
    if duration < timedelta(0):
        raise DurationError(f"{_shown(value)} is negative; a length of time is 0 or more")
    if duration > LONGEST:
        raise DurationError(f"{_shown(value)} is longer than 100 years")
    return duration


def _shown(value: object) -> str:
    """Show a value in a message without letting a huge one fill the screen."""
    if isinstance(value, int) and abs(value) > 10**18:
        return "a number of that size"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
