"""The pages of calendars that are defined in the admin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_leasejobs.engine.transactions import alias
from django_leasejobs.exceptions import JobDefinitionError
from django_leasejobs.models import Calendar, Job
from django_leasejobs.policies.calendars import PARTS
from django_leasejobs.policies.calendars import Calendar as Rules
from django_leasejobs.registry import registry
from django_leasejobs.schedules import zone_names

from .base import EngineAdmin
from .display import column, json_of
from .fields import LinesField, SuggestingInput

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Any]
else:
    ModelForm = forms.ModelForm


class CalendarForm(ModelForm):
    """The parts of a calendar, each a list with one entry per line, kept as the row's definition."""

    timezone = forms.CharField(
        label=gettext_lazy("Time zone"),
        initial="UTC",
        widget=SuggestingInput(zone_names, attrs={"size": 30, "class": ""}),
        help_text=gettext_lazy("The zone of its days and hours, such as Europe/Berlin."),
    )
    days = LinesField(label=gettext_lazy("Days"), help_text=gettext_lazy("Dates such as 2026-12-24, one per line."))
    weekdays = LinesField(label=gettext_lazy("Weekdays"), help_text=gettext_lazy("Such as sat, one per line."))
    yearly = LinesField(label=gettext_lazy("Days of each year"), help_text=gettext_lazy("Such as 12-25, one per line."))
    windows = LinesField(
        label=gettext_lazy("Windows"),
        help_text=gettext_lazy("From one time up to another: 2026-12-20T18:00/2027-01-02T06:00, one per line."),
    )
    daily = LinesField(
        label=gettext_lazy("Hours of each day"), help_text=gettext_lazy("Such as 22:00-06:00, one per line.")
    )

    class Meta:
        model = Calendar
        fields = ["name"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        definition = getattr(kwargs.get("instance"), "definition", None) or {}
        initial = {part: definition[part] for part in ("timezone", *PARTS) if part in definition}
        super().__init__(*args, **{**kwargs, "initial": {**initial, **(kwargs.get("initial") or {})}})
        self.stored_name = self.instance.name

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        try:
            Rules(name=name)
        except JobDefinitionError as error:
            raise ValidationError(str(error)) from None
        if name in registry.calendars:
            raise ValidationError(_("Code defines a calendar of this name."))
        if Calendar.objects.using(alias()).filter(name=name).exclude(pk=self.instance.pk).exists():
            raise self.instance.unique_error_message(Calendar, ("name",))
        if self.stored_name not in ("", name) and (users := jobs_that_exclude(self.stored_name)):
            names = ", ".join(job.name for job in users)
            raise ValidationError(_("It can't be renamed while jobs exclude it: %(names)s.") % {"names": names})
        return name

    def clean(self) -> dict[str, Any]:
        """Read each part by itself, so that each error stands at its field."""
        given = super().clean() or self.cleaned_data
        zone = given.get("timezone", "UTC")
        read: dict[str, Any] = {}
        for part in ("timezone", *PARTS):
            if part not in given:
                continue
            try:
                read.update(Rules(**{"name": "calendar", "timezone": zone, part: given[part]}).to_dict())
            except JobDefinitionError as error:
                self.add_error(part, error.reason)
                if part == "timezone":
                    zone = "UTC"
        if not self.errors:
            self.instance.definition = {key: value for key, value in read.items() if key != "name"}
            if read.keys() <= {"name", "timezone"}:
                self.add_error(None, _("A calendar needs at least one day, weekday, window or hour."))
        return self.cleaned_data

    def validate_unique(self) -> None:
        """Leave it to ``clean_name``, which asks the database that is written to."""


def jobs_that_exclude(name: str) -> list[Job]:
    """Return the jobs that name a calendar. JSON can't be searched for it on every database."""
    jobs = Job.objects.using(alias()).exclude(exclude=[]).order_by("name")
    return [job for job in jobs if name in job.exclude]


def _summary(calendar: Calendar) -> str:
    definition = calendar.definition if isinstance(calendar.definition, dict) else {}
    parts = [", ".join(map(str, definition[part][:5])) for part in PARTS if definition.get(part)]
    return "; ".join(parts)


DEFINITION = json_of("definition", gettext_lazy("definition"))


@admin.register(Calendar)
class CalendarAdmin(EngineAdmin):
    """Calendars. One that jobs exclude can't be deleted: they would not be planned any more."""

    form = CalendarForm
    fields = ["name", "timezone", "days", "weekdays", "yearly", "windows", "daily"]
    list_display = ["name", column(gettext_lazy("covers"), _summary, name="summary")]
    search_fields = ["name"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show the definition as it is stored to those who can't edit its parts."""
        if obj is not None and not self.has_change_permission(request, obj):
            return ["name", DEFINITION]
        return self.fields

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Store it; workers mend by themselves what could not be planned without it."""
        obj.save(using=alias())

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        obj.delete(using=alias())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Calendar]) -> None:
        queryset.using(alias()).delete()

    def get_deleted_objects(self, objs: Iterable[Any], request: HttpRequest) -> Any:
        calendars = list(objs)
        protected = [
            _("job %(job)s, which excludes %(name)s") % {"job": job, "name": calendar}
            for calendar in calendars
            for job in jobs_that_exclude(calendar.name)
        ]
        missing = set() if self.has_delete_permission(request) else {self.opts.verbose_name}
        counts = {self.opts.verbose_name_plural: len(calendars)}
        return [str(calendar) for calendar in calendars], counts, missing, protected
