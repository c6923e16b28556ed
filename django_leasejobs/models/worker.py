from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _


class Worker(models.Model):
    """One running ``run_job_worker`` with its last heartbeat; the row goes when it stops cleanly."""

    name = models.CharField(_("name"), max_length=200)
    host = models.CharField(_("host"), max_length=255)
    pid = models.PositiveIntegerField(_("process id"))
    version = models.CharField(_("version"), max_length=50)
    pool = models.CharField(_("pool"), max_length=8)
    concurrency = models.PositiveIntegerField(_("concurrency"))
    queues = models.JSONField(_("queues"), default=list, help_text=_("Empty: all queues."))
    tasks = models.JSONField(_("tasks"), default=list, help_text=_("What its code can run."))
    started_at = models.DateTimeField(_("started at"))
    heartbeat_at = models.DateTimeField(_("last heartbeat"))
    heartbeat_every = models.DurationField(_("heartbeat every"))
    stopping = models.BooleanField(_("stopping"), default=False)
    clock_offset = models.DurationField(
        _("clock offset"), null=True, blank=True, help_text=_("The worker's clock less the database's.")
    )

    class Meta:
        verbose_name = _("worker")
        verbose_name_plural = _("workers")
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(concurrency__gte=1), name="leasejobs_worker_concurrency"),
        ]

    def __str__(self) -> str:
        return self.name
