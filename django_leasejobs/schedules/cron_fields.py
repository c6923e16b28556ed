"""The dialect of the five fields: strict checks, and each field rewritten as a plain list of numbers.

Fields are Debian's, with names, lists, ranges and steps, plus ``L``, ``5L``, ``5#2``, ``15W`` and ``H``.
A list of plain numbers is all that goes on to croniter, which reads some of the shorthands differently.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from django_leasejobs.exceptions import ScheduleError

LAST = -1

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


@dataclass(frozen=True, slots=True)
class Kind:
    """One of the five fields: its name, bounds, how many values differ, and the names of values."""

    name: str
    low: int
    high: int
    width: int
    names: dict[str, int]


MINUTE = Kind("minute", 0, 59, 60, {})
HOUR = Kind("hour", 0, 23, 24, {})
DAY = Kind("day of month", 1, 31, 31, {})
MONTH = Kind("month", 1, 12, 12, {name: number for number, name in enumerate(_MONTHS, 1)})
WEEKDAY = Kind("day of week", 0, 7, 7, {name: number for number, name in enumerate(_WEEKDAYS)})
KINDS = (MINUTE, HOUR, DAY, MONTH, WEEKDAY)


@dataclass(frozen=True, slots=True)
class Field:
    """A checked field. ``starred``: it begins with ``*``, which is what Debian's rules look at.

    ``nearest`` holds the days of ``15W``; ``nth`` pairs of weekday and number, LAST for the last.
    """

    numbers: frozenset[int] = frozenset()
    starred: bool = False
    last_day: bool = False
    nearest: frozenset[int] = frozenset()
    nth: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class CronFields:
    """What the five fields say; ``fixed`` and ``both_days`` follow from which of them begin with ``*``."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: tuple[int, ...]
    day: Field
    weekday: Field
    fixed: bool
    both_days: bool


_ITEM = re.compile(
    r"""(?:
        (?P<star>\*)
      | h(?:\((?P<hash_low>\d+)-(?P<hash_high>\d+)\))?(?P<hash>)
      | (?P<first>\d+|[a-z]{3})(?:-(?P<last>\d+|[a-z]{3}))?
    )(?:/(?P<step>\d+))?""",
    re.ASCII | re.VERBOSE,
)
_NEAREST = re.compile(r"(\d+)w", re.ASCII)
_NTH = re.compile(r"(\d+|[a-z]{3})(?:\#(\d+)|(l))", re.ASCII)


def read_field(kind: Kind, text: str, name: str) -> Field:
    """Check one field and return what it says; raise ScheduleError that names the field and the fault.

    ``name`` is what ``H`` is hashed from.
    """
    fields = [_read_item(kind, item, name) for item in text.lower().split(",")]
    return Field(
        numbers=frozenset[int]().union(*(field.numbers for field in fields)),
        starred=text.startswith("*"),
        last_day=any(field.last_day for field in fields),
        nearest=frozenset[int]().union(*(field.nearest for field in fields)),
        nth=frozenset[tuple[int, int]]().union(*(field.nth for field in fields)),
    )


def _read_item(kind: Kind, item: str, name: str) -> Field:
    if special := _read_special(kind, item):
        return special
    match = _ITEM.fullmatch(item)
    if match is None:
        raise ScheduleError(_advice(kind, item), field=kind.name)
    step = _read_step(kind, match["step"])
    if match["hash"] is not None:
        values = _hashed(kind, match, step, name)
    elif match["star"]:
        values = range(kind.low, kind.high + 1, step or 1)
    else:
        values = _read_range(kind, match, step)
    return Field(numbers=frozenset(_plain(kind, value) for value in values))


def _read_special(kind: Kind, item: str) -> Field | None:
    if kind is DAY:
        if item == "l":
            return Field(last_day=True)
        if match := _NEAREST.fullmatch(item):
            return Field(nearest=frozenset({_number(kind, match[1])}))
    if kind is WEEKDAY and (match := _NTH.fullmatch(item)):
        weekday = _plain(kind, _number(kind, match[1]))
        nth = LAST if match[3] else int(match[2][:3])
        if not match[3] and not 1 <= nth <= 5:
            raise ScheduleError(f"{item!r}: no month has a weekday number {match[2]}", field=kind.name)
        return Field(nth=frozenset({(weekday, nth)}))
    return None


def _read_range(kind: Kind, match: re.Match[str], step: int | None) -> range:
    first = _number(kind, match["first"])
    if match["last"] is None:
        # Cronie and cronsim agree: a start with a step runs to the end of the field.
        return range(first, (kind.high if step else first) + 1, step or 1)
    last = _number(kind, match["last"])
    if last < first:
        raise ScheduleError(
            f"range {match[0]!r} runs backwards; write {_forwards(kind, first, last)!r}", field=kind.name
        )
    return range(first, last + 1, step or 1)


def _forwards(kind: Kind, first: int, last: int) -> str:
    """Write a reversed range as the two that are meant."""
    if kind is WEEKDAY:
        return f"{first}-7" if last == 0 else f"{'6' if first == 6 else f'{first}-6'},0-{last}"
    upper = str(kind.high) if first == kind.high else f"{first}-{kind.high}"
    lower = str(kind.low) if last == kind.low else f"{kind.low}-{last}"
    return f"{upper},{lower}"


def _read_step(kind: Kind, text: str | None) -> int | None:
    if text is None:
        return None
    step = _bounded_int(text)
    if step == 0:
        raise ScheduleError("a step of 0 leads nowhere; write 1 or more", field=kind.name)
    if step > kind.width:
        raise ScheduleError(
            f"step {text} is wider than the field, which has {kind.width} values, so it would not mean "
            f"every {text}; use '@every' for a longer interval",
            field=kind.name,
        )
    return step


def _number(kind: Kind, text: str) -> int:
    if text in kind.names:
        return kind.names[text]
    if not text[0].isdigit():
        known = f"; use {', '.join(kind.names)}" if kind.names else "; use a number"
        raise ScheduleError(f"{text!r} is not a name of this field{known}", field=kind.name)
    number = _bounded_int(text)
    if not kind.low <= number <= kind.high:
        raise ScheduleError(f"{kind.name} {text} is out of range {kind.low}-{kind.high}", field=kind.name)
    return number


def _bounded_int(text: str) -> int:
    """Read digits; anything beyond four of them is out of every range anyway."""
    significant = text.lstrip("0") or "0"
    return int(significant[:5])


def _plain(kind: Kind, number: int) -> int:
    return number % 7 if kind is WEEKDAY else number


def _hashed(kind: Kind, match: re.Match[str], step: int | None, name: str) -> range:
    """Spread jobs by their name: one value of the range, or one start for the steps through it."""
    low, high = kind.low, 28 if kind is DAY else 6 if kind is WEEKDAY else kind.high
    if step and kind is DAY:
        high = kind.high
    if match["hash_low"]:
        low, high = _number(kind, match["hash_low"]), _number(kind, match["hash_high"])
    if high < low:
        raise ScheduleError(f"range of {match[0].upper()!r} runs backwards", field=kind.name)
    digest = hashlib.sha256(f"{kind.name}\0{name}".encode()).digest()
    seed = int.from_bytes(digest[:8], "big")
    first = low + seed % min(step or high - low + 1, high - low + 1)
    return range(first, high + 1, step) if step else range(first, first + 1)


def _advice(kind: Kind, item: str) -> str:
    """Say what is wrong with an item that no form of the dialect fits."""
    if not item:
        return "a comma with nothing before or after it"
    if "?" in item:
        return "'?' is not part of this dialect; write '*'"
    if re.match(r"r(?![a-z])", item):
        return "'R' would be another time in each process; use 'H', which is hashed from the job's name"
    if re.match(r"[a-z]{4,}", item) and item[:3] in kind.names:
        return f"{item!r}: names have three letters; write {item[:3]!r}"
    if item.startswith(("-", "+")):
        return f"{item!r}: numbers have no sign"
    if re.search(r"[lw#]", item):
        return (
            f"{item!r} can't be read here; days of the month have 'L' (last day) and '15W' (nearest "
            "weekday), weekdays have '5L' (last Friday) and '5#2' (second Friday)"
        )
    return f"{item!r} can't be read; write a number, a range 'a-b', a step '*/n', or a list of these"
