"""How instants, lengths of time, long texts and states look on a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from django_leasejobs.durations import format_duration, rough_duration

EMPTY = "-"


def moment(instant: datetime | None) -> str:
    """Write an instant in the reader's time zone, to the second, with its offset."""
    if instant is None:
        return EMPTY
    return instant.astimezone(timezone.get_current_timezone()).isoformat(" ", "seconds")


def short_moment(instant: datetime | None) -> str:
    """Write an instant without its offset, for lists."""
    return moment(instant)[:19]


def rough(duration: timedelta | None) -> str:
    return EMPTY if duration is None else rough_duration(duration)


def badge(word: object, kind: str) -> SafeString:
    """Show a short word with the colour of its kind; the word says it all without the colour."""
    return format_html('<span class="leasejobs-badge leasejobs-{}">{}</span>', kind.lower(), word)


def pre(text: str) -> SafeString | str:
    """Show text of many lines as it is."""
    return format_html('<pre class="leasejobs-pre">{}</pre>', text) if text else EMPTY


def as_json(value: Any) -> SafeString | str:
    """Show a JSON value; several lines where it has several parts."""
    if value is None:
        return EMPTY
    return pre(json.dumps(value, indent=2, ensure_ascii=False))


def progress(value: Any) -> str:
    """Say how far a run is: ``3 of 10: loading``."""
    if not isinstance(value, dict):
        return EMPTY
    done, total, message = value.get("done"), value.get("total"), value.get("message")
    far = f"{done}" if total is None else _("%(done)s of %(total)s") % {"done": done, "total": total}
    return f"{far}: {message}" if message else far


def link(name: str, key: object, text: object) -> SafeString:
    """Link to the page of a row."""
    return format_html('<a href="{}">{}</a>', reverse(f"admin:leasejobs_{name}_change", args=[key]), text)


def column(label: Any, show: Callable[[Any], Any], *, name: str, ordering: str | None = None) -> Any:
    """Make a column or a read-only field of a function of the row; stubs know only names in fieldsets."""

    def cell(row: Any) -> Any:
        return show(row)

    cell.__name__ = name
    return admin.display(description=label, ordering=ordering)(cell)


def moment_of(field: str, label: Any) -> Any:
    return column(label, lambda row: moment(getattr(row, field)), name=f"{field}_moment", ordering=field)


def short_moment_of(field: str, label: Any) -> Any:
    def show(row: Any) -> str:
        return short_moment(getattr(row, field))

    return column(label, show, name=f"{field}_short", ordering=field)


def duration_of(field: str, label: Any) -> Any:
    def show(row: Any) -> str:
        value = getattr(row, field)
        return EMPTY if value is None else format_duration(value)

    return column(label, show, name=f"{field}_text", ordering=field)


def json_of(field: str, label: Any) -> Any:
    return column(label, lambda row: as_json(getattr(row, field)), name=f"{field}_json")


def pre_of(field: str, label: Any) -> Any:
    return column(label, lambda row: pre(getattr(row, field)), name=f"{field}_pre")
