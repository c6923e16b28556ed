"""What the list of runs can be narrowed to, each by way of an index."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from django_leasejobs.engine.transactions import alias
from django_leasejobs.models import FINISHED, UNFINISHED, Job, Run, RunStatus

MOST_JOBS_SEARCHED = 100
STATUS = "status"


class StatusFilter(admin.SimpleListFilter):
    """Chooses runs by status, and says of finished ones that they ended: the index on the end holds only those."""

    title = gettext_lazy("status")
    parameter_name = STATUS

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(RunStatus.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Run]) -> QuerySet[Run]:
        value = self.value()
        if value in FINISHED:
            return queryset.filter(status=value, finished_at__isnull=False)
        return queryset.filter(status=value) if value in UNFINISHED else queryset


def ordering(request: HttpRequest) -> list[str]:
    """Order by the end where the filter on the status has an index of it, else by number; the newest first."""
    return ["-finished_at", "-pk"] if request.GET.get(STATUS) in FINISHED else ["-pk"]


def search(runs: QuerySet[Run], term: str) -> QuerySet[Run]:
    """Find runs by number or by their jobs, which an index answers; a scan of texts would not end."""
    jobs = Job.objects.using(alias()).filter(name__icontains=term).order_by("name")
    chosen = Q(job__in=list(jobs.values_list("pk", flat=True)[:MOST_JOBS_SEARCHED]))
    if term.isascii() and term.isdigit() and len(term) < 19:
        chosen |= Q(pk=int(term))
    return runs.filter(chosen)
