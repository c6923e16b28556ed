"""The calendars that jobs may exclude, from code and from the admin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django_leasejobs.exceptions import JobDefinitionError, ScheduleError
from django_leasejobs.models import Calendar as CalendarRow
from django_leasejobs.policies.calendars import Calendar
from django_leasejobs.registry import registry

from .transactions import alias


def known_calendars(names: Iterable[str]) -> Mapping[str, Calendar]:
    """Return those of the named calendars that exist and can be read; code goes before the admin."""
    wanted = set(names)
    found = {name: registry.calendars[name] for name in wanted if name in registry.calendars}
    missing = wanted - set(found)
    if missing:
        for row in CalendarRow.objects.using(alias()).filter(name__in=missing):
            try:
                found[row.name] = Calendar.from_dict({**row.definition, "name": row.name})
            except (JobDefinitionError, ScheduleError, TypeError, ValueError):
                continue
    return found


def calendars_of(names: Iterable[str], known: Mapping[str, Calendar]) -> list[Calendar]:
    """Return the calendars in the order of ``names``; raise ScheduleError for one that isn't known."""
    found = []
    for name in names:
        if name not in known:
            raise ScheduleError(f"there is no calendar named {name!r}", field="exclude")
        found.append(known[name])
    return found
