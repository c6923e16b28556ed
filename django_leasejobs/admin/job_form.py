"""The form of a job that is defined in the admin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.admin.widgets import AdminTextInputWidget
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_leasejobs.clock import database_now
from django_leasejobs.conf import get_settings
from django_leasejobs.engine.transactions import alias
from django_leasejobs.models import Calendar, Job
from django_leasejobs.policies.limits import (
    HIGHEST_PRIORITY,
    LARGEST_COUNT,
    LONGEST_SCHEDULE,
    LOWEST_PRIORITY,
    SHORTEST_LEASE,
    SHORTEST_START_DEADLINE,
    SHORTEST_TIMEOUT,
)
from django_leasejobs.registry import registry
from django_leasejobs.schedules import zone_names

from .fields import ArgumentsField, DurationTextField, SuggestingInput
from .job_checks import WHEN, argument_errors, calendar_errors, when_errors
from .tasks import task_choices, task_help

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Any]
else:
    ModelForm = forms.ModelForm

OVERLAPS = [
    ("skip", gettext_lazy("skip: the new one is recorded as skipped")),
    ("queue", gettext_lazy("queue: one waits until the other is over")),
    ("allow", gettext_lazy("allow: both run")),
    ("replace", gettext_lazy("replace: the old one is cancelled")),
]
CATCH_UPS = [
    ("latest", gettext_lazy("latest: the last one runs, the others are recorded as missed")),
    ("all", gettext_lazy("all: each runs, oldest first, within bounds")),
    ("none", gettext_lazy("none: all are recorded as missed")),
]


class JobForm(ModelForm):
    """Checks everything that a worker would stumble over, and previews the schedule without saving."""

    task = forms.ChoiceField(label=gettext_lazy("Task"))
    args = ArgumentsField(list, label=gettext_lazy("Arguments"))
    kwargs = ArgumentsField(dict, label=gettext_lazy("Keyword arguments"))
    schedule = forms.CharField(
        label=gettext_lazy("Schedule"),
        required=False,
        max_length=LONGEST_SCHEDULE,
        widget=AdminTextInputWidget(attrs={"spellcheck": "false"}),
        help_text=gettext_lazy(
            "Five cron fields such as 0 2 * * 1-5, or @daily, @every 15m, @at 2027-01-31T02:00. Empty: only by hand."
        ),
    )
    timezone = forms.CharField(
        label=gettext_lazy("Time zone"),
        initial="UTC",
        max_length=64,
        widget=SuggestingInput(zone_names, attrs={"size": 30, "class": ""}),
        help_text=gettext_lazy("The zone in which the schedule is read, such as Europe/Berlin."),
    )
    exclude = forms.MultipleChoiceField(
        label=gettext_lazy("Exclude"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Calendars on whose days the job does not run."),
    )
    spread = DurationTextField(
        label=gettext_lazy("Spread"),
        initial="0s",
        help_text=gettext_lazy("Start up to this much later, by an offset that stays the same for this job."),
    )
    backoff = DurationTextField(
        label=gettext_lazy("Backoff"),
        initial="10s",
        help_text=gettext_lazy("The wait before the first retry; it doubles with each, up to an hour."),
    )
    lease = DurationTextField(
        label=gettext_lazy("Lease"),
        initial=lambda: get_settings().LEASE,
        lowest=SHORTEST_LEASE,
        help_text=gettext_lazy("After how long a dead worker's run is taken up again. Not a limit: it is renewed."),
    )
    timeout = DurationTextField(
        label=gettext_lazy("Timeout"),
        required=False,
        lowest=SHORTEST_TIMEOUT,
        help_text=gettext_lazy("The limit of one attempt, such as 15m. Empty: none."),
    )
    start_deadline = DurationTextField(
        label=gettext_lazy("Start deadline"),
        required=False,
        lowest=SHORTEST_START_DEADLINE,
        help_text=gettext_lazy("What could not start within this is missed, such as 1h. Empty: none."),
    )
    overlap = forms.ChoiceField(
        label=gettext_lazy("Overlap"),
        choices=OVERLAPS,
        help_text=gettext_lazy("The job is due while its previous run is not over."),
    )
    catch_up = forms.ChoiceField(
        label=gettext_lazy("Catch-up"),
        choices=CATCH_UPS,
        initial="latest",
        help_text=gettext_lazy("The instants that passed while no worker lived."),
    )
    pause_after_failures = forms.IntegerField(
        label=gettext_lazy("Pause after failures"),
        required=False,
        min_value=1,
        max_value=LARGEST_COUNT,
        help_text=gettext_lazy("Failed runs in a row after which the job pauses itself. Empty: never."),
    )
    priority = forms.IntegerField(
        label=gettext_lazy("Priority"),
        initial=0,
        min_value=LOWEST_PRIORITY,
        max_value=HIGHEST_PRIORITY,
        help_text=gettext_lazy("Higher goes first, from -100 to 100."),
    )

    class Meta:
        model = Job
        fields = [
            "name", "description", "enabled", "task", "args", "kwargs", "schedule", "timezone", "starts_at", "ends_at",
            "exclude", "spread", "overlap", "catch_up", "start_deadline", "retries", "backoff", "timeout", "lease",
            "max_lost", "pause_after_failures", "queue", "priority",
        ]  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        job: Job = self.instance
        stored_task, excluded = job.task, job.exclude
        self.stored = Job(**{name: getattr(job, name) for name in WHEN}) if job.pk else None
        self._set("task", choices=task_choices(stored_task), help_text=task_help(stored_task))
        self._set("exclude", choices=_calendar_choices(excluded))
        if "description" in self.fields:
            self.fields["description"].widget.attrs["rows"] = 3

    def is_valid(self) -> bool:
        """Tell whether to save: a preview comes back with what was entered, and saves nothing."""
        return super().is_valid() and "_preview" not in self.data

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not name.isprintable():
            raise ValidationError(_("Only printable signs can be used."))
        if name in registry.jobs:
            raise ValidationError(_("Code defines a job of this name."))
        if Job.objects.using(alias()).filter(name=name).exclude(pk=self.instance.pk).exists():
            raise self.instance.unique_error_message(Job, ("name",))
        return name

    def clean_queue(self) -> str:
        queue: str = self.cleaned_data["queue"]
        if not queue.isprintable():
            raise ValidationError(_("Only printable signs can be used."))
        return queue

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        self._add(calendar_errors(given.get("exclude", [])))
        if {"task", "args", "kwargs"} <= given.keys():
            self._add(argument_errors(given["task"], given["args"], given["kwargs"]))
        if {"name", *WHEN} <= given.keys():
            self._add(when_errors(self.stored, given, database_now(alias())))
        return self.cleaned_data

    def validate_unique(self) -> None:
        """Leave it to ``clean_name``, which asks the database that is written to."""

    def _add(self, problems: Iterable[tuple[str, str]]) -> None:
        for field, reason in problems:
            self.add_error(field, reason)

    def _set(self, name: str, **attributes: Any) -> None:
        if name in self.fields:
            for attribute, value in attributes.items():
                setattr(self.fields[name], attribute, value)


class SwitchForm(ModelForm):
    """The form of a code-defined job: only whether it is enabled."""

    class Meta:
        model = Job
        fields = ["enabled"]


def _calendar_choices(excluded: list[str]) -> list[tuple[str, str]]:
    names = {*registry.calendars, *Calendar.objects.using(alias()).values_list("name", flat=True)}
    gone = [
        (name, _("%(name)s (there is no such calendar)") % {"name": name}) for name in excluded if name not in names
    ]
    return [(name, name) for name in sorted(names)] + gone
