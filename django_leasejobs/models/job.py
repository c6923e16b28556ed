from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from django_leasejobs.policies.overlap import Overlap
from django_leasejobs.policies.planning_values import CatchUp

from .fields import DEFAULT_BACKOFF, DEFAULT_LEASE, DEFAULT_MAX_LOST, ZERO, policy_checks
from .statuses import JobState, Source


class Job(models.Model):
    """A named definition: which task, with which arguments, on which schedule, under which policies."""

    name = models.CharField(_("name"), max_length=200, unique=True)
    description = models.TextField(_("description"), blank=True)
    task = models.CharField(_("task"), max_length=255, help_text=_("The registered callable behind the job."))
    args = models.JSONField(_("arguments"), default=list, blank=True)
    kwargs = models.JSONField(_("keyword arguments"), default=dict, blank=True)
    source = models.CharField(_("defined in"), max_length=8, choices=Source.choices, default=Source.ADMIN)

    schedule = models.CharField(_("schedule"), max_length=255, blank=True)
    timezone = models.CharField(_("time zone"), max_length=64, default="UTC")
    starts_at = models.DateTimeField(_("starts at"), null=True, blank=True)
    ends_at = models.DateTimeField(_("ends at"), null=True, blank=True)
    exclude = models.JSONField(_("exclude"), default=list, blank=True, help_text=_("Names of calendars."))
    spread = models.DurationField(_("spread"), default=ZERO)

    queue = models.CharField(_("queue"), max_length=100, default="default")
    priority = models.SmallIntegerField(_("priority"), default=0)
    retries = models.PositiveIntegerField(_("retries"), default=0)
    backoff = models.DurationField(_("backoff"), default=DEFAULT_BACKOFF)
    max_lost = models.PositiveIntegerField(_("lost leases allowed"), default=DEFAULT_MAX_LOST)
    lease = models.DurationField(_("lease"), default=DEFAULT_LEASE)
    timeout = models.DurationField(_("timeout"), null=True, blank=True)
    overlap = models.CharField(
        _("overlap"), max_length=8, choices=[(item.value, item.value) for item in Overlap], default=Overlap.SKIP.value
    )
    catch_up = models.CharField(
        _("catch-up"),
        max_length=8,
        choices=[(item.value, item.value) for item in CatchUp],
        default=CatchUp.LATEST.value,
    )
    start_deadline = models.DurationField(_("start deadline"), null=True, blank=True)
    pause_after_failures = models.PositiveIntegerField(_("pause after failures"), null=True, blank=True)

    enabled = models.BooleanField(_("enabled"), default=True)
    paused_at = models.DateTimeField(_("paused at"), null=True, blank=True, editable=False)
    paused_by = models.CharField(_("paused by"), max_length=150, blank=True, editable=False)
    pause_reason = models.TextField(_("reason of the pause"), blank=True, editable=False)
    retired_at = models.DateTimeField(
        _("left the code at"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("Set when no code defines it any more."),
    )

    next_run_at = models.DateTimeField(
        _("next instant"), null=True, blank=True, editable=False, help_text=_("Nominal; empty when nothing is to come.")
    )
    planned_until = models.DateTimeField(
        _("last recorded instant"), null=True, blank=True, editable=False, help_text=_("Instants up to here have rows.")
    )
    schedule_error = models.TextField(_("schedule error"), blank=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    class Meta:
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        ordering: ClassVar = ["name"]
        permissions: ClassVar = [
            ("trigger_job", _("Can trigger a job")),
            ("pause_job", _("Can pause and resume a job")),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(condition=~models.Q(name=""), name="leasejobs_job_name"),
            models.CheckConstraint(condition=models.Q(source__in=Source.values), name="leasejobs_job_source"),
            models.CheckConstraint(
                condition=models.Q(overlap__in=[item.value for item in Overlap]), name="leasejobs_job_overlap"
            ),
            models.CheckConstraint(
                condition=models.Q(catch_up__in=[item.value for item in CatchUp]), name="leasejobs_job_catch_up"
            ),
            models.CheckConstraint(condition=models.Q(spread__gte=ZERO), name="leasejobs_job_spread"),
            models.CheckConstraint(
                condition=models.Q(start_deadline__isnull=True) | models.Q(start_deadline__gt=ZERO),
                name="leasejobs_job_deadline",
            ),
            models.CheckConstraint(
                condition=models.Q(ends_at__isnull=True)
                | models.Q(starts_at__isnull=True)
                | models.Q(ends_at__gt=models.F("starts_at")),
                name="leasejobs_job_window",
            ),
            *policy_checks("job"),
        ]
        indexes: ClassVar = [models.Index(fields=["next_run_at"], name="leasejobs_job_due")]

    def __str__(self) -> str:
        return self.name

    @property
    def exclusive(self) -> bool:
        """Whether at most one of its runs may hold a lease at a time."""
        return self.overlap != Overlap.ALLOW

    @property
    def active(self) -> bool:
        """Whether its schedule is followed: enabled, not paused, and still defined somewhere."""
        return self.enabled and self.paused_at is None and self.retired_at is None

    @property
    def state(self) -> JobState:
        """The state that most needs a person; an active job whose schedule can't be followed is BROKEN."""
        if self.retired_at is not None:
            return JobState.RETIRED
        if not self.enabled:
            return JobState.DISABLED
        if self.paused_at is not None:
            return JobState.PAUSED
        return JobState.BROKEN if self.schedule_error else JobState.ACTIVE
