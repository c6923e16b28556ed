"""The list of jobs: its columns, filters, and how the last outcome of each is found."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy

from django_leasejobs.models import Job, JobState, Source

from .display import EMPTY, badge, column, link, short_moment
from .history import fetch_last_runs
from .job_state import owned_by_code, state_of
from .preview import in_zone, words_of
from .tasks import where_defined


class JobChangeList(ChangeList):
    """Fetches the last runs of all jobs of a page in one statement."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list: Any = list(self.result_list)
        fetch_last_runs(self.result_list)


class StateFilter(admin.SimpleListFilter):
    """Chooses jobs by what the table says of their state; what this process's code knows is no part of it."""

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(JobState.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> QuerySet[Job]:
        not_retired = Q(retired_at__isnull=True)
        followed = not_retired & Q(enabled=True, paused_at__isnull=True)
        chosen: dict[str, Q] = {
            JobState.RETIRED: ~not_retired,
            JobState.DISABLED: not_retired & Q(enabled=False),
            JobState.PAUSED: not_retired & Q(enabled=True, paused_at__isnull=False),
            JobState.BROKEN: followed & ~Q(schedule_error=""),
            JobState.ACTIVE: followed & Q(schedule_error=""),
        }
        value = self.value() or ""
        return queryset.filter(chosen[value]) if value in chosen else queryset


def _state(job: Job) -> Any:
    shown = state_of(job)
    word = badge(shown.state.label, shown.state)
    return format_html('{} <span class="leasejobs-quiet">{}</span>', word, shown.reason) if shown.reason else word


def _next(job: Job) -> str:
    """Write the next instant in the job's zone, with seconds only where there are any."""
    if job.next_run_at is None:
        return EMPTY
    precision = "seconds" if job.next_run_at.second else "minutes"
    return in_zone(job.next_run_at, job.timezone).isoformat(" ", precision)


def _last(job: Any) -> Any:
    run = job.last_run
    if run is None:
        return EMPTY
    return format_html(
        "{} {}", badge(run.get_status_display(), run.status), link("run", run.pk, short_moment(run.finished_at))
    )


def _where(job: Job) -> Any:
    if not owned_by_code(job):
        return Source.ADMIN.label
    return format_html('<span title="{}">{}</span>', where_defined(job.task), Source.CODE.label)


state_column = column(gettext_lazy("state"), _state, name="state")
words_column = column(gettext_lazy("runs"), words_of, name="schedule_words", ordering="schedule")
next_column = column(gettext_lazy("next instant"), _next, name="next_instant", ordering="next_run_at")
last_column = column(gettext_lazy("last outcome"), _last, name="last_outcome")
where_column = column(gettext_lazy("defined in"), _where, name="where_defined", ordering="source")
