"""Trigger, pause and resume a job."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.widgets import AdminSplitDateTime
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from django_leasejobs.clock import database_now
from django_leasejobs.engine.pause import pause_job, resume_job
from django_leasejobs.engine.transactions import alias
from django_leasejobs.engine.trigger import MAX_WHO, Order, trigger_job
from django_leasejobs.exceptions import JobDefinitionError, UnknownJob
from django_leasejobs.models import Job, RunStatus

from .display import link
from .fields import ArgumentsField
from .job_checks import argument_errors
from .verbs import Done, Verb, VerbForm


class TriggerForm(VerbForm):
    """The arguments of one run, as the job has them unless they are changed."""

    args = ArgumentsField(list, label=gettext_lazy("Arguments"))
    kwargs = ArgumentsField(dict, label=gettext_lazy("Keyword arguments"))
    run_after = forms.SplitDateTimeField(
        label=gettext_lazy("Not before"),
        required=False,
        widget=AdminSplitDateTime,
        help_text=gettext_lazy("Empty: as soon as a worker is free."),
    )
    ignore_overlap = forms.BooleanField(
        label=gettext_lazy("Run even beside an unfinished run"),
        required=False,
        help_text=gettext_lazy("Otherwise the job's overlap policy decides."),
    )

    def __init__(self, *args: Any, row: Job, **kwargs: Any) -> None:
        super().__init__(*args, row=row, initial={"args": row.args, "kwargs": row.kwargs}, **kwargs)

    def clean_run_after(self) -> datetime | None:
        run_after: datetime | None = self.cleaned_data["run_after"]
        if run_after is not None and run_after < database_now(alias()):
            raise ValidationError(_("This moment has passed. Leave it empty for a run as soon as possible."))
        return run_after

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            for field, reason in argument_errors(self.row.task, cleaned["args"], cleaned["kwargs"]):
                self.add_error(field, reason)
        return cleaned


class PauseForm(VerbForm):
    """Why a job is paused."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=500,
        required=False,
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        help_text=gettext_lazy("Shown to everyone who wonders why the job does not run."),
    )


class ResumeForm(VerbForm):
    """What becomes of the time that the job was paused."""

    catch_up = forms.BooleanField(
        label=gettext_lazy("Catch up"),
        required=False,
        help_text=gettext_lazy(
            "Treat the instants that fell into the pause as missed time, by the job's catch-up policy."
            " Otherwise the next instant is counted from now."
        ),
    )


def _trigger(job: Job, user: str, answers: Mapping[str, Any]) -> Done:
    try:
        run = trigger_job(job.name, Order(triggered_by=user[:MAX_WHO], **answers))
    except UnknownJob:
        return Done(words=_("Not triggered, deleted meanwhile"), level=messages.ERROR)
    except JobDefinitionError as error:
        return Done(words=_("Not triggered, %(reason)s") % {"reason": error.reason}, level=messages.ERROR)
    to_run = link("run", run.pk, _("Run %(id)s") % {"id": run.pk})
    if run.status == RunStatus.SKIPPED:
        words = _("Skipped, %(reason)s") % {"reason": run.reason}
        entry = _("Triggered run %(id)s, which was skipped: %(reason)s.") % {"id": run.pk, "reason": run.reason}
        return Done(words=words, level=messages.WARNING, entry=entry, link=to_run)
    entry = _("Triggered run %(id)s.") % {"id": run.pk}
    if answers:
        entry = _("Triggered run %(id)s with args=%(args)s kwargs=%(kwargs)s.") % {
            "id": run.pk,
            "args": run.args,
            "kwargs": run.kwargs,
        }
    return Done(words=_("Triggered"), entry=entry, link=to_run)


def _pause(job: Job, user: str, answers: Mapping[str, Any]) -> Done:
    reason = answers["reason"]
    if not pause_job(job.pk, by=user[:MAX_WHO], reason=reason):
        return Done(words=_("Nothing done, paused already"), level=messages.WARNING)
    return Done(words=_("Paused"), entry=_("Paused: %(reason)s") % {"reason": reason or _("no reason given.")})


def _resume(job: Job, user: str, answers: Mapping[str, Any]) -> Done:
    catch_up = bool(answers.get("catch_up"))
    if not resume_job(job.pk, catch_up=catch_up):
        return Done(words=_("Nothing done, not paused"), level=messages.WARNING)
    return Done(words=_("Resumed"), entry=_("Resumed, catching up.") if catch_up else _("Resumed."))


TRIGGER = Verb(
    name="trigger",
    permission="leasejobs.trigger_job",
    label=gettext_lazy("Trigger now"),
    bulk_label=gettext_lazy("Trigger selected jobs now"),
    question=gettext_lazy("Makes one run of the job beside its schedule, which stays as it is."),
    act=_trigger,
    fits=lambda job: job.retired_at is None,
    form=TriggerForm,
)
PAUSE = Verb(
    name="pause",
    permission="leasejobs.pause_job",
    label=pgettext_lazy("a job", "Pause"),
    bulk_label=gettext_lazy("Pause selected jobs"),
    question=gettext_lazy("The schedule is not followed until somebody resumes it. Runs that wait or run go on."),
    act=_pause,
    fits=lambda job: job.paused_at is None,
    form=PauseForm,
    bulk_form=PauseForm,
)
RESUME = Verb(
    name="resume",
    permission="leasejobs.pause_job",
    label=gettext_lazy("Resume"),
    bulk_label=gettext_lazy("Resume selected jobs"),
    question=gettext_lazy("The schedule is followed again."),
    act=_resume,
    fits=lambda job: job.paused_at is not None,
    form=ResumeForm,
)
JOB_VERBS = (TRIGGER, PAUSE, RESUME)
