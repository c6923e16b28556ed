"""The pages of runs, which only workers write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from django_leasejobs.clock import DatabaseNow
from django_leasejobs.engine.transactions import alias
from django_leasejobs.models import Attempt, Run

from .base import ReadOnlyAdmin
from .display import duration_of, json_of, moment_of, pre_of, short_moment_of
from .paging import MOST_LISTED, BoundedPaginator
from .run_columns import (
    attempt_column,
    instant_column,
    job_column,
    late_column,
    lease_column,
    progress_column,
    short_instant_column,
    status_column,
    time_column,
    what_happened_column,
)
from .run_list import StatusFilter, ordering, search
from .run_verbs import CANCEL, RETRY
from .verbs import VerbsAdmin, bulk

if TYPE_CHECKING:
    TabularInline = admin.TabularInline[Any, Any]
else:
    TabularInline = admin.TabularInline


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
        moment_of("late_result_at", gettext_lazy("late result, discarded")),
        "token",
        what_happened_column,
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
        short_instant_column,
        short_moment_of("started_at", gettext_lazy("started")),
        time_column,
        late_column,
        "worker_name",
        attempt_column,
    ]
    list_filter = [StatusFilter]
    sortable_by = ()
    search_fields = ["id"]
    search_help_text = gettext_lazy("The number of a run, or a part of a job's name.")
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
                    ("worker_name", attempt_column, lease_column),
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

    def get_ordering(self, request: HttpRequest) -> Any:
        return ordering(request)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        return search(queryset, term) if term else queryset, False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return super().changelist_view(request, {**(extra_context or {}), "most_listed": MOST_LISTED})
