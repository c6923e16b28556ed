"""When a job is due: pure values, no Django, no clock."""

from __future__ import annotations

from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.schedules.base import Schedule
from django_leasejobs.schedules.parsing import parse
from django_leasejobs.schedules.zones import zone, zone_names

__all__ = ["Schedule", "ScheduleError", "parse", "zone", "zone_names"]
