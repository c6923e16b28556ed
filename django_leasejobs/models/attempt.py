from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from .run import Run
from .statuses import Outcome


class Attempt(models.Model):
    """The record of an ended lease of a run that did not end it well."""

    run = models.ForeignKey(Run, verbose_name=_("run"), on_delete=models.CASCADE, related_name="attempts")
    token = models.BigIntegerField(_("token"))
    number = models.PositiveIntegerField(_("number"))
    outcome = models.CharField(_("outcome"), max_length=10, choices=Outcome.choices)
    worker_name = models.CharField(_("worker"), max_length=200, blank=True)
    started_at = models.DateTimeField(_("started at"))
    ended_at = models.DateTimeField(_("ended at"))
    late_result_at = models.DateTimeField(
        _("late result at"),
        null=True,
        blank=True,
        help_text=_("When a result came although the lease was gone; it was discarded."),
    )
    error = models.TextField(_("error"), blank=True)
    traceback = models.TextField(_("traceback"), blank=True)
    log = models.TextField(_("log"), blank=True)

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(outcome__in=Outcome.values), name="leasejobs_attempt_outcome"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of run {self.run_id}: {self.outcome}"
