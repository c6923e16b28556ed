"""What all pages share: rows from the database that the engine writes to, and short transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

from django_leasejobs.engine.transactions import alias, in_short_transaction

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class EngineAdmin(ModelAdmin):
    """Reads where the engine writes, since a replica may be behind, and posts in a short transaction.

    That transaction begins as a write on SQLite, so that no worker's write in between makes the post fail, and a
    post that met a deadlock is tried again.
    """

    class Media:
        css = {"all": ["leasejobs/admin.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).using(alias())

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        show = super().changeform_view
        if request.method == "POST":
            return in_short_transaction(show)(request, object_id, form_url, extra_context)
        return show(request, object_id, form_url, extra_context)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        show = super().delete_view
        if request.method == "POST":
            return in_short_transaction(show)(request, object_id, extra_context)
        return show(request, object_id, extra_context)


class ReadOnlyAdmin(EngineAdmin):
    """Pages of rows that only workers write."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
