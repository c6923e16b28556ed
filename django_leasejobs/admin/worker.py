"""The pages of workers."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.models import Lease, Worker
from django_leasejobs.policies.health import DEFAULT_THRESHOLDS, is_alive

from .base import ReadOnlyAdmin
from .display import EMPTY, badge, column, duration_of, moment_of, rough


def _is_alive(worker: Any) -> bool:
    return is_alive(worker, as_utc(worker.now))


def _state(worker: Any) -> Any:
    if not _is_alive(worker):
        return badge(_("silent"), "expired")
    return badge(_("stopping"), "paused") if worker.stopping else badge(_("alive"), "active")


def _age(worker: Any) -> str:
    return rough(as_utc(worker.now) - worker.heartbeat_at)


def _offset(worker: Worker) -> Any:
    offset = worker.clock_offset
    if offset is None:
        return EMPTY
    return badge(rough(offset), "expired") if abs(offset) > DEFAULT_THRESHOLDS.clock_offset else rough(offset)


def _queues(worker: Worker) -> str:
    return ", ".join(worker.queues) or _("all")


def _leases(worker: Any) -> str:
    return _("%(held)s of %(slots)s") % {"held": worker.held or 0, "slots": worker.concurrency}


state_column = column(gettext_lazy("state"), _state, name="state")
age_column = column(gettext_lazy("heartbeat age"), _age, name="heartbeat_age", ordering="heartbeat_at")
offset_column = column(gettext_lazy("clock offset"), _offset, name="offset", ordering="clock_offset")
queues_column = column(gettext_lazy("queues"), _queues, name="queue_names")
leases_column = column(gettext_lazy("leases"), _leases, name="lease_count")
tasks_column = column(gettext_lazy("tasks it knows"), lambda worker: ", ".join(worker.tasks), name="task_names")


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    """Workers, with what they say of themselves."""

    list_display = [
        "name", state_column, age_column, leases_column, queues_column, "pool", offset_column, "host", "pid", "version",
    ]  # fmt: skip
    search_fields = ["name", "host"]
    ordering = ["name"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    "name",
                    state_column,
                    (moment_of("heartbeat_at", gettext_lazy("last heartbeat")), age_column),
                    duration_of("heartbeat_every", gettext_lazy("heartbeat every")),
                    moment_of("started_at", gettext_lazy("started at")),
                    ("host", "pid"),
                    ("pool", leases_column),
                    "version",
                    queues_column,
                    tasks_column,
                    offset_column,
                ]
            },
        )
    ]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only the row of a silent worker can go; if that one lives after all, it makes itself a new one."""
        return obj is not None and not _is_alive(obj) and request.user.has_perm("leasejobs.delete_worker")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        held = Lease.objects.filter(worker=OuterRef("pk")).order_by().values("worker").annotate(count=Count("pk"))
        rows = super().get_queryset(request)
        workers: QuerySet[Any] = rows.annotate(now=DatabaseNow(), held=Subquery(held.values("count")))
        return workers
