"""The pages of jobs."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from django_leasejobs.clock import database_now
from django_leasejobs.engine.cancel import delete_jobs
from django_leasejobs.engine.edit import save_job, set_enabled
from django_leasejobs.engine.transactions import alias
from django_leasejobs.models import UNFINISHED, Job, Run

from .display import duration_of, json_of, moment, moment_of
from .history import recent_runs, with_last_runs
from .job_checks import WHEN
from .job_form import JobForm, SwitchForm
from .job_list import (
    JobChangeList,
    StateFilter,
    last_column,
    next_column,
    state_column,
    where_column,
    words_column,
)
from .job_state import owned_by_code, state_of
from .job_verbs import JOB_VERBS
from .preview import preview
from .tasks import where_defined
from .verbs import VerbsAdmin, bulk

READ_ONLY = {
    "args": json_of("args", gettext_lazy("arguments")),
    "kwargs": json_of("kwargs", gettext_lazy("keyword arguments")),
    "spread": duration_of("spread", gettext_lazy("spread")),
    "backoff": duration_of("backoff", gettext_lazy("backoff")),
    "timeout": duration_of("timeout", gettext_lazy("timeout")),
    "lease": duration_of("lease", gettext_lazy("lease")),
    "start_deadline": duration_of("start_deadline", gettext_lazy("start deadline")),
}
RECORD = (
    moment_of("next_run_at", gettext_lazy("next instant")),
    moment_of("planned_until", gettext_lazy("last recorded instant")),
    moment_of("created_at", gettext_lazy("created at")),
    moment_of("updated_at", gettext_lazy("updated at")),
)
EDITED: list[tuple[Any, dict[str, Any]]] = [
    (None, {"fields": ["name", "description", "enabled"]}),
    (gettext_lazy("What runs"), {"fields": ["task", "args", "kwargs"]}),
    (
        gettext_lazy("When"),
        {"fields": [("schedule", "timezone"), ("starts_at", "ends_at"), "exclude", "spread"]},
    ),
    (gettext_lazy("When it is late or still running"), {"fields": ["overlap", "catch_up", "start_deadline"]}),
    (
        gettext_lazy("When it fails"),
        {"fields": [("retries", "backoff"), ("timeout", "lease"), ("max_lost", "pause_after_failures")]},
    ),
    (gettext_lazy("Which workers"), {"fields": [("queue", "priority")]}),
]


@admin.register(Job)
class JobAdmin(VerbsAdmin):
    """Jobs, edited by way of the engine so that their next instants follow."""

    verbs = JOB_VERBS
    form = JobForm
    change_form_template = "admin/leasejobs/job/change_form.html"
    add_form_template = "admin/leasejobs/job/change_form.html"
    list_display = ["name", words_column, "timezone", next_column, last_column, state_column, where_column]
    list_filter = [StateFilter, "source"]
    search_fields = ["name", "description", "task"]
    list_per_page = 50
    ordering = ["name"]
    actions = [*map(bulk, JOB_VERBS), "enable_selected", "disable_selected"]

    def has_trigger_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("leasejobs.trigger_job")

    def has_pause_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("leasejobs.pause_job")

    has_resume_permission = has_pause_permission

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        kept = isinstance(obj, Job) and _is_made_again(obj)
        return not kept and super().has_delete_permission(request, obj)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[JobChangeList]:
        return JobChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return with_last_runs(super().get_queryset(request))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        edited = EDITED
        if obj is None:
            return edited
        if owned_by_code(obj) or not self.has_change_permission(request, obj):
            edited = [(title, {"fields": [_read_only(item) for item in parts["fields"]]}) for title, parts in EDITED]
        return [*edited, (gettext_lazy("Record"), {"fields": list(RECORD)})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if not owned_by_code(obj):
            return list(RECORD)
        named = [name for name in JobForm.Meta.fields if name != "enabled" and name not in READ_ONLY]
        return [*named, *READ_ONLY.values(), *RECORD]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        if owned_by_code(obj):
            kwargs["form"] = SwitchForm
        return super().get_form(request, obj, change=change, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if owned_by_code(obj):
            set_enabled([obj.pk], obj.enabled)
        else:
            save_job(obj)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        delete_jobs([obj.pk], reason=self._deleted_by(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        delete_jobs(list(queryset.values_list("pk", flat=True)), reason=self._deleted_by(request))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List what goes; the runs stay. What code would make again is protected."""
        jobs = list(objs)
        protected = [
            _("%(name)s: code defines it and would make it again") % {"name": job}
            for job in jobs
            if _is_made_again(job)
        ]
        unfinished = Run.objects.using(alias()).filter(job__in=jobs, status__in=UNFINISHED).count()
        names = [str(job) for job in jobs]
        if unfinished:
            words = ngettext(
                "%(count)s unfinished run is cancelled.", "%(count)s unfinished runs are cancelled.", unfinished
            )
            names.append(words % {"count": unfinished})
        names.append(_("What ran so far stays in the history."))
        missing = set() if self.has_delete_permission(request) else {self.opts.verbose_name}
        return names, {self.opts.verbose_name_plural: len(jobs)}, missing, protected

    def shown_beside(self, request: HttpRequest, form: Any, obj: Any) -> dict[str, Any]:
        job = form.instance
        entered = form.is_bound and "schedule" in form.fields
        readable = not (entered and {*WHEN, "exclude"} & form.errors.keys())
        previewed = preview(job, database_now(alias())) if readable and (obj or entered) else None
        beside = {"preview": previewed, "entered": entered, "zone": job.timezone}
        if obj:
            shown = state_of(obj)
            beside |= {
                "state": shown.state,
                "reason": shown.reason,
                "since": moment(shown.since) if shown.since else "",
                "where": where_defined(obj.task) if owned_by_code(obj) else None,
                "owned_by_code": owned_by_code(obj),
                "made_again": _is_made_again(obj),
                "last_runs": recent_runs(obj),
            }
        return {**super().shown_beside(request, form, obj), **beside}

    @admin.action(permissions=["change"], description=gettext_lazy("Enable selected jobs"))
    def enable_selected(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        self._switch(request, queryset, enabled=True)

    @admin.action(permissions=["change"], description=gettext_lazy("Disable selected jobs"))
    def disable_selected(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        self._switch(request, queryset, enabled=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[Job], *, enabled: bool) -> None:
        jobs = [job for job in queryset if job.enabled != enabled]
        set_enabled([job.pk for job in jobs], enabled)
        entry = _("Enabled.") if enabled else _("Disabled.")
        for job in jobs:
            self.log_change(request, job, entry)
        words = (
            ngettext("%(count)s job enabled.", "%(count)s jobs enabled.", len(jobs))
            if enabled
            else ngettext("%(count)s job disabled.", "%(count)s jobs disabled.", len(jobs))
        )
        self.message_user(request, words % {"count": len(jobs)}, messages.SUCCESS if jobs else messages.WARNING)

    def _deleted_by(self, request: HttpRequest) -> str:
        return _("the job was deleted by %(user)s") % {"user": request.user.get_username()}


def _is_made_again(job: Job) -> bool:
    """Whether code still defines the job, so that the next sync would bring it back."""
    return owned_by_code(job) and job.retired_at is None


def _read_only(item: Any) -> Any:
    """Replace fields by how they are shown where they can't be edited."""
    return tuple(map(_read_only, item)) if isinstance(item, tuple) else READ_ONLY.get(item, item)
