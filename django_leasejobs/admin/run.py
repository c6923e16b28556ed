"""The pages of runs, which only workers write."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.engine.transactions import alias
from django_leasejobs.models import Attempt, Job, Origin, Run, RunStatus

from .base import ReadOnlyAdmin
from .display import (
    badge,
    column,
    duration_of,
    json_of,
    link,
    moment,
    moment_of,
    pre,
    pre_of,
    progress,
    rough,
    short_moment,
    short_moment_of,
)
from .paging import MOST_LISTED, BoundedPaginator
from .run_verbs import CANCEL, RETRY
from .verbs import VerbsAdmin, bulk

if TYPE_CHECKING:
    TabularInline = admin.TabularInline[Any, Any]
else:
    TabularInline = admin.TabularInline

MOST_JOBS_SEARCHED = 100


def run_time(run: Any) -> timedelta | None:
    """How long the last attempt took, or takes so far."""
    if run.last_attempted_at is None or run.status == RunStatus.READY:
        return None
    end = as_utc(run.now if run.finished_at is None else run.finished_at)
    return max(end - as_utc(run.last_attempted_at), timedelta(0))


def lateness(run: Run) -> timedelta | None:
    """How long after its instant a scheduled run first started."""
    if run.origin != Origin.SCHEDULE or run.scheduled_for is None or run.started_at is None:
        return None
    return run.started_at - run.scheduled_for


def _instants(run: Run) -> str:
    first = moment(run.scheduled_for)
    return f"{first} - {moment(run.scheduled_until)} ({run.instants})" if run.instants > 1 else first


def _short_instants(run: Run) -> str:
    first = short_moment(run.scheduled_for)
    return _("%(first)s and %(more)s more") % {"first": first, "more": run.instants - 1} if run.instants > 1 else first


def _job(run: Run) -> Any:
    """The job, or the task of a run that has none."""
    name = run.job_name or run.task
    return link("job", run.job_id, name) if run.job_id else name


def _progress(run: Run) -> str:
    """Of a running run the lease knows best."""
    lease = getattr(run, "lease", None)
    return progress(lease.progress if lease is not None and lease.progress is not None else run.progress)


def _what_happened(attempt: Attempt) -> Any:
    folded = format_html_join(
        "",
        "<details><summary>{}</summary>{}</details>",
        [(title, pre(text)) for title, text in ((_("Traceback"), attempt.traceback), (_("Log"), attempt.log)) if text],
    )
    return format_html("{}{}", pre(attempt.error), folded)


status_column = column(gettext_lazy("status"), lambda run: badge(run.get_status_display(), run.status), name="badge")
instant_column = column(gettext_lazy("nominal instant"), _instants, name="instant")
job_column = column(gettext_lazy("job"), _job, name="job_link")
time_column = column(gettext_lazy("duration"), lambda run: rough(run_time(run)), name="run_time")
late_column = column(gettext_lazy("lateness"), lambda run: rough(lateness(run)), name="lateness")
attempt_column = column(gettext_lazy("attempt"), lambda run: run.attempt, name="attempt_number")
progress_column = column(gettext_lazy("progress"), _progress, name="progress_words")


class AttemptInline(TabularInline):
    """The attempts that did not end the run well; they are seen by whoever sees the run."""

    model = Attempt
    can_delete = False
    max_num = 0
    fields: ClassVar[Any] = [
        "number",
        "outcome",
        "worker_name",
        moment_of("started_at", gettext_lazy("started at")),
        moment_of("ended_at", gettext_lazy("ended at")),
        "token",
        column(gettext_lazy("what happened"), _what_happened, name="what_happened"),
    ]
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Attempt]:
        return super().get_queryset(request).using(alias())

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin, VerbsAdmin):
    """Runs, newest first. Nothing on these pages counts or walks all of them."""

    verbs = (CANCEL, RETRY)
    actions = [bulk(CANCEL), bulk(RETRY)]
    inlines = [AttemptInline]
    change_list_template = "admin/leasejobs/run/change_list.html"
    list_display = [
        "id",
        status_column,
        job_column,
        column(gettext_lazy("nominal instant"), _short_instants, name="short_instant"),
        short_moment_of("started_at", gettext_lazy("started")),
        time_column,
        late_column,
        "worker_name",
        attempt_column,
    ]
    list_filter = ["status"]
    sortable_by = ()
    search_fields = ["id"]
    search_help_text = gettext_lazy("The number of a run, or a part of a job's name.")
    ordering = ("-id",)
    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50
    fieldsets = [
        (
            None,
            {
                "fields": [
                    (status_column, "reason"),
                    (job_column, "task"),
                    (instant_column, late_column),
                    (moment_of("started_at", gettext_lazy("first started")), time_column),
                    (moment_of("finished_at", gettext_lazy("finished")), progress_column),
                    ("worker_name", attempt_column),
                    "error",
                ]
            },
        ),
        (
            gettext_lazy("What was asked for"),
            {
                "fields": [
                    ("origin", "triggered_by", "idempotency_key"),
                    json_of("args", gettext_lazy("arguments")),
                    json_of("kwargs", gettext_lazy("keyword arguments")),
                    ("queue", "priority", "exclusive"),
                    (
                        moment_of("created_at", gettext_lazy("created")),
                        moment_of("available_at", gettext_lazy("available")),
                        moment_of("start_before", gettext_lazy("start before")),
                    ),
                    ("retries", duration_of("backoff", gettext_lazy("backoff")), "failures"),
                    ("max_lost", "lost", "token"),
                    (
                        duration_of("lease_duration", gettext_lazy("lease")),
                        duration_of("timeout", gettext_lazy("timeout")),
                    ),
                ]
            },
        ),
        (
            gettext_lazy("What came of it"),
            {
                "fields": [
                    json_of("result", gettext_lazy("result")),
                    json_of("state", gettext_lazy("saved state")),
                    pre_of("traceback", gettext_lazy("traceback")),
                    pre_of("log", gettext_lazy("log")),
                ]
            },
        ),
    ]

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("leasejobs.cancel_run")

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("leasejobs.retry_run")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).select_related("lease").annotate(now=DatabaseNow())
        return rows

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find runs by number or by their jobs, which an index answers; a scan of texts would not end."""
        term = search_term.strip()
        if not term:
            return queryset, False
        jobs = Job.objects.using(alias()).filter(name__icontains=term).order_by("name")
        chosen = Q(job__in=list(jobs.values_list("pk", flat=True)[:MOST_JOBS_SEARCHED]))
        if term.isascii() and term.isdigit() and len(term) < 19:
            chosen |= Q(pk=int(term))
        return queryset.filter(chosen), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return super().changelist_view(request, {**(extra_context or {}), "most_listed": MOST_LISTED})
