"""The pages of leases: who holds what, since when, for how much longer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_leasejobs.clock import DatabaseNow, as_utc
from django_leasejobs.models import Lease

from .base import ReadOnlyAdmin
from .display import EMPTY, badge, column, duration_of, link, moment_of, progress, rough, short_moment_of
from .run_verbs import RELEASE
from .verbs import VerbsAdmin, bulk


def _expires_in(lease: Any) -> Any:
    left = lease.expires_at - as_utc(lease.now)
    if left < timedelta(0):
        return badge(_("expired %(ago)s ago") % {"ago": rough(-left)}, "expired")
    return rough(left)


def _held(lease: Any) -> str:
    return rough(as_utc(lease.now) - lease.claimed_at)


def _worker(lease: Lease) -> Any:
    name = lease.run.worker_name or EMPTY
    return link("worker", lease.worker_id, name) if lease.worker_id else name


def _cancel(lease: Lease) -> str:
    if lease.cancel_requested_at is None:
        return EMPTY
    return lease.cancel_reason or _("asked for")


run_column = column(gettext_lazy("run"), lambda lease: link("run", lease.run_id, lease.run), name="run_link")
worker_column = column(gettext_lazy("held by"), _worker, name="worker_link")
expiry_column = column(gettext_lazy("expires in"), _expires_in, name="expires_in", ordering="expires_at")
held_column = column(gettext_lazy("held for"), _held, name="held", ordering="claimed_at")
cancel_column = column(gettext_lazy("cancel"), _cancel, name="cancel")
progress_column = column(gettext_lazy("progress"), lambda lease: progress(lease.progress), name="progress_words")


@admin.register(Lease)
class LeaseAdmin(ReadOnlyAdmin, VerbsAdmin):
    """Leases; those that are over and not taken up yet come first."""

    verbs = (RELEASE,)
    actions = [bulk(RELEASE)]
    list_display = [
        "id",
        run_column,
        worker_column,
        short_moment_of("claimed_at", gettext_lazy("since")),
        held_column,
        expiry_column,
        progress_column,
        cancel_column,
    ]
    ordering = ["expires_at"]
    search_fields = ["run__job_name", "run__worker_name"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    "id",
                    run_column,
                    worker_column,
                    moment_of("claimed_at", gettext_lazy("held since")),
                    moment_of("renewed_at", gettext_lazy("last renewed")),
                    moment_of("expires_at", gettext_lazy("expires at")),
                    expiry_column,
                    duration_of("duration", gettext_lazy("length")),
                    "exclusive_job",
                    progress_column,
                    cancel_column,
                ]
            },
        )
    ]

    def has_release_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("leasejobs.release_lease")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request).select_related("run", "exclusive_job")
        leases: QuerySet[Any] = rows.annotate(now=DatabaseNow())
        return leases
