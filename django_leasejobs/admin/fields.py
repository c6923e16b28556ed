"""Form fields for lengths of time, arguments and lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.admin.widgets import AdminTextareaWidget, AdminTextInputWidget
from django.core.exceptions import ValidationError
from django.forms.fields import InvalidJSONInput
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_leasejobs.durations import format_duration, parse_duration
from django_leasejobs.exceptions import DurationError


class DurationTextField(forms.CharField):
    """A length of time as text such as ``15m``; ``lowest`` and empty text where it isn't required."""

    def __init__(self, *, lowest: timedelta = timedelta(0), **kwargs: Any) -> None:
        kwargs.setdefault("widget", AdminTextInputWidget(attrs={"size": 12, "class": ""}))
        kwargs.setdefault("help_text", gettext_lazy("Such as 90s, 15m, 1h30m or 2d."))
        super().__init__(**kwargs)
        self.lowest = lowest

    def prepare_value(self, value: Any) -> Any:
        return format_duration(value) if isinstance(value, timedelta) else value

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            duration = parse_duration(text)
        except DurationError as error:
            raise ValidationError(_("%(reason)s.") % {"reason": error}, code="invalid") from None
        if duration < self.lowest:
            words = _("At least %(lowest)s is needed.") % {"lowest": format_duration(self.lowest)}
            raise ValidationError(words, code="min_value")
        return duration


class ArgumentsField(forms.JSONField):
    """A JSON list or dict; empty text is the empty one."""

    widget = AdminTextareaWidget(attrs={"rows": 3, "class": "vLargeTextField leasejobs-json"})

    def __init__(self, kind: type[list[Any]] | type[dict[str, Any]], **kwargs: Any) -> None:
        example = '["main", 3]' if kind is list else '{"warehouse": "main"}'
        kwargs.setdefault("help_text", format_lazy(gettext_lazy("JSON, such as {example}"), example=example))
        super().__init__(required=False, **{"initial": kind, **kwargs})
        self.kind = kind

    def to_python(self, value: Any) -> Any:
        try:
            read = super().to_python(value)
        except (ValueError, RecursionError) as error:
            # Numbers of thousands of digits and endless nesting; JSON that is merely wrong is a ValidationError.
            raise ValidationError(_("This can't be read: %(reason)s.") % {"reason": error}, code="invalid") from None
        if read is None:
            return self.kind()
        if not isinstance(read, self.kind):
            words = _("A list in [] is needed.") if self.kind is list else _("A dict in {} is needed.")
            raise ValidationError(words, code="invalid")
        return read

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Return the text as it was typed: not all that can be typed can be read and written again."""
        return data if data is None else InvalidJSONInput(data)


class LinesField(forms.CharField):
    """A list of short texts, one per line."""

    widget = AdminTextareaWidget(attrs={"rows": 4, "class": "leasejobs-lines"})

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return [line.strip() for line in text.splitlines() if line.strip()]


class SuggestingInput(AdminTextInputWidget):
    """A text input whose browser suggests values while one types."""

    def __init__(self, suggestions: Callable[[], Iterable[str]], attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs)
        self.suggestions = suggestions

    def render(self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None) -> SafeString:
        list_id = f"{name}_suggestions"
        shown = super().render(name, value, {**(attrs or {}), "list": list_id}, renderer)
        options = format_html_join("", '<option value="{}"></option>', ((item,) for item in self.suggestions()))
        return format_html('{}<datalist id="{}">{}</datalist>', shown, list_id, options)
