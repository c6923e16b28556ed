"""Time zone names: which are known, and what to say about the others."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from django_leasejobs.exceptions import ScheduleError

# Keys of some zone databases whose meaning depends on the machine, or which are placeholders.
_NOT_ZONES = frozenset({"localtime", "Factory", "posixrules"})
_EXAMPLES = "use a name such as 'Europe/Berlin' or 'UTC'"


def zone(name: object) -> ZoneInfo:
    """Return the IANA time zone of this name; raise ScheduleError (field ``timezone``) for anything else."""
    if isinstance(name, ZoneInfo):
        name = str(name)
    if not isinstance(name, str):
        raise ScheduleError(f"a time zone is given by its name, not {name!r}; {_EXAMPLES}", field="timezone")
    return _zone(name)


def zone_names() -> list[str]:
    """Return all names that ``zone`` knows, in order."""
    return sorted(_names())


@lru_cache(maxsize=1024)
def _zone(name: str) -> ZoneInfo:
    # Looking the name up in the list comes first: ZoneInfo() opens a file of that name, and fails in a
    # different way for each of a folder, a path upwards, an over-long name and a NUL.
    if name not in _names():
        raise ScheduleError(_refusal(name), field="timezone")
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError) as error:
        raise ScheduleError(f"the data of {name!r} can't be read: {error}", field="timezone") from error


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(available_timezones()) - _NOT_ZONES


def _refusal(name: str) -> str:
    if not name:
        return f"no time zone given; {_EXAMPLES}"
    if len(name) > 100:
        return f"{name[:40]!r}... is too long for a time zone; {_EXAMPLES}"
    if name in _NOT_ZONES:
        return f"{name!r} does not say which zone it is; {_EXAMPLES}"
    if any(known.startswith(f"{name}/") for known in _names()):
        return f"{name!r} is a group of time zones, not one; {_EXAMPLES}"
    close = get_close_matches(name.strip().casefold(), {known.casefold(): known for known in _names()}, n=1)
    if close:
        meant = next(known for known in sorted(_names()) if known.casefold() == close[0])
        return f"{name!r} is not a known time zone; did you mean {meant!r}?"
    return f"{name!r} is not a known time zone; {_EXAMPLES}"
