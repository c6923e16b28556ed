from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from .fields import ZERO
from .job import Job
from .run import Run
from .worker import Worker


class Lease(models.Model):
    """A worker's claim on one run until ``expires_at``. Only live claims have a row.

    The primary key is the fencing token: the database hands it out and it only ever grows. Whoever deletes the
    row (finish, reclaim, release, cancel) has the say about the run; everyone else stands back.
    """

    id = models.BigAutoField(_("token"), primary_key=True)
    run = models.OneToOneField(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="lease")
    exclusive_job = models.OneToOneField(
        Job,
        verbose_name=_("exclusive for job"),
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="exclusive_lease",
        help_text=_("Set when no other run of this job may hold a lease."),
    )
    worker = models.ForeignKey(
        Worker, verbose_name=_("worker"), null=True, on_delete=models.SET_NULL, related_name="leases", db_index=False
    )
    duration = models.DurationField(_("duration"))
    claimed_at = models.DateTimeField(_("claimed at"))
    renewed_at = models.DateTimeField(_("renewed at"))
    expires_at = models.DateTimeField(_("expires at"))
    cancel_requested_at = models.DateTimeField(_("cancel requested at"), null=True, blank=True)
    cancel_reason = models.TextField(_("reason of the cancel"), blank=True)
    progress = models.JSONField(_("progress"), null=True, blank=True)

    class Meta:
        verbose_name = _("lease")
        verbose_name_plural = _("leases")
        ordering: ClassVar = ["expires_at"]
        permissions: ClassVar = [("release_lease", _("Can release a lease"))]
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(duration__gt=ZERO), name="leasejobs_lease_duration"),
        ]
        indexes: ClassVar = [models.Index(fields=["expires_at"], name="leasejobs_lease_expired")]

    def __str__(self) -> str:
        return f"lease {self.pk} of run {self.run_id}"

    @property
    def token(self) -> int:
        """The fencing token: the primary key."""
        return self.pk
