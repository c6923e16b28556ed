"""The calendars that jobs may exclude, from code and from the admin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django_leasejobs.exceptions import JobDefinitionError, ScheduleError
from django_leasejobs.models import Calendar as CalendarRow
from django_leasejobs.policies.calendars import Calendar
from django_leasejobs.registry import registry

from .transactions import alias

# A calendar, or why the one of this name can't be used.
Known = Mapping[str, Calendar | str]


def known_calendars(names: Iterable[object]) -> Known:
    """Look up the named calendars, those of code before those of the admin; what is no name is let pass.

    One statement at most. ``calendars_of`` refuses what is missing or unreadable, for the one job that names it.
    """
    wanted = {name for name in names if isinstance(name, str)}
    found: dict[str, Calendar | str] = {name: registry.calendars[name] for name in wanted if name in registry.calendars}
    missing = wanted - set(found)
    if missing:
        for row in CalendarRow.objects.using(alias()).filter(name__in=missing):
            found[row.name] = _read(row)
    return found


def names_in(exclude: object) -> list[object]:
    """Return what a job's ``exclude`` names, nothing where somebody wrote no list."""
    return exclude if isinstance(exclude, list) else []


def calendars_of(names: object, known: Known) -> list[Calendar]:
    """Return the calendars of a job's ``exclude``, in its order; raise ScheduleError for what can't be used."""
    if not isinstance(names, list):
        raise ScheduleError(f"a list of calendar names is needed, not {names!r}", field="exclude")
    found = []
    for name in names:
        calendar = known.get(name) if isinstance(name, str) else None
        if calendar is None:
            raise ScheduleError(f"there is no calendar named {name!r}", field="exclude")
        if isinstance(calendar, str):
            raise ScheduleError(calendar, field="exclude")
        found.append(calendar)
    return found


def _read(row: CalendarRow) -> Calendar | str:
    try:
        return Calendar.from_dict({**row.definition, "name": row.name})
    except JobDefinitionError as error:
        return str(error)
    except (TypeError, ValueError) as error:
        return f"the calendar {row.name!r} can't be read: {error}"
