from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _


class Calendar(models.Model):
    """A named set of days and windows on which jobs that exclude it do not run, defined in the admin."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    definition = models.JSONField(_("definition"), default=dict)

    class Meta:
        verbose_name = _("calendar")
        verbose_name_plural = _("calendars")
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [models.CheckConstraint(condition=~models.Q(name=""), name="leasejobs_calendar_name")]

    def __str__(self) -> str:
        return self.name
