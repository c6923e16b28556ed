from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from .fields import DEFAULT_BACKOFF, DEFAULT_LEASE, DEFAULT_MAX_LOST, policy_checks
from .job import Job
from .statuses import FINISHED, UNFINISHED, Origin, RunStatus

READY = models.Q(status=RunStatus.READY)
ORPHANED = models.Q(job__isnull=True) & ~models.Q(origin=Origin.TASK)


class Run(models.Model):
    """One occurrence of work: a scheduled instant, a manual trigger, or an enqueued task.

    It keeps a copy of what its job said when it was made, so that it can run, be retried and be read later
    whatever became of the job. A MISSED or SKIPPED row may stand for many instants: ``scheduled_for`` is the
    first, ``scheduled_until`` the last, ``instants`` their count.
    """

    job = models.ForeignKey(
        Job,
        verbose_name=_("job"),
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="runs",
        db_index=False,
    )
    job_name = models.CharField(_("name of the job"), max_length=200, blank=True)
    task = models.CharField(_("task"), max_length=255)
    args = models.JSONField(_("arguments"), default=list)
    kwargs = models.JSONField(_("keyword arguments"), default=dict)
    origin = models.CharField(_("origin"), max_length=8, choices=Origin.choices, default=Origin.SCHEDULE)
    triggered_by = models.CharField(_("triggered by"), max_length=150, blank=True)
    idempotency_key = models.CharField(_("idempotency key"), max_length=255, null=True, blank=True, unique=True)

    status = models.CharField(_("status"), max_length=10, choices=RunStatus.choices, default=RunStatus.READY)
    reason = models.TextField(_("reason"), blank=True)
    scheduled_for = models.DateTimeField(_("scheduled for"), null=True, blank=True)
    scheduled_until = models.DateTimeField(_("scheduled until"), null=True, blank=True)
    instants = models.PositiveIntegerField(_("instants"), default=1)
    available_at = models.DateTimeField(_("available at"))
    start_before = models.DateTimeField(_("start before"), null=True, blank=True)

    queue = models.CharField(_("queue"), max_length=100, default="default")
    priority = models.SmallIntegerField(_("priority"), default=0)
    exclusive = models.BooleanField(_("exclusive"), default=False)
    lease_duration = models.DurationField(_("lease"), default=DEFAULT_LEASE, db_column="lease")
    timeout = models.DurationField(_("timeout"), null=True, blank=True)
    retries = models.PositiveIntegerField(_("retries"), default=0)
    backoff = models.DurationField(_("backoff"), default=DEFAULT_BACKOFF)
    max_lost = models.PositiveIntegerField(_("lost leases allowed"), default=DEFAULT_MAX_LOST)

    failures = models.PositiveIntegerField(_("failures"), default=0)
    lost = models.PositiveIntegerField(_("lost leases"), default=0)
    token = models.BigIntegerField(_("last token"), null=True, blank=True)
    worker_name = models.CharField(_("worker"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created at"))
    started_at = models.DateTimeField(_("first started at"), null=True, blank=True)
    last_attempted_at = models.DateTimeField(_("last started at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)

    result = models.JSONField(_("result"), null=True, blank=True)
    state = models.JSONField(_("state"), null=True, blank=True)
    progress = models.JSONField(_("progress"), null=True, blank=True)
    error = models.TextField(_("error"), blank=True)
    traceback = models.TextField(_("traceback"), blank=True)
    log = models.TextField(_("log"), blank=True)

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        ordering: ClassVar = ["-id"]
        permissions: ClassVar = [("cancel_run", _("Can cancel a run")), ("retry_run", _("Can retry a run"))]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "scheduled_for"], name="leasejobs_run_instant"),
            models.CheckConstraint(condition=models.Q(status__in=RunStatus.values), name="leasejobs_run_status"),
            models.CheckConstraint(condition=models.Q(origin__in=Origin.values), name="leasejobs_run_origin"),
            models.CheckConstraint(condition=models.Q(instants__gte=1), name="leasejobs_run_instants"),
            models.CheckConstraint(
                condition=models.Q(status__in=UNFINISHED, finished_at__isnull=True)
                | models.Q(status__in=FINISHED, finished_at__isnull=False),
                name="leasejobs_run_finished",
            ),
            *policy_checks("run", lease="lease_duration"),
        ]
        indexes: ClassVar = [
            # Columns only, no expressions: MariaDB would leave such an index out. It ignores the conditions, so there
            # the status must come first.
            models.Index(
                fields=["status", "-priority", "available_at", "id"], name="leasejobs_run_claim", condition=READY
            ),
            models.Index(
                fields=["status", "queue", "-priority", "available_at", "id"],
                name="leasejobs_run_claim_queue", condition=READY,
            ),
            models.Index(fields=["status", "available_at"], name="leasejobs_run_wake", condition=READY),
            models.Index(
                fields=["job", "status"], name="leasejobs_run_active", condition=models.Q(status__in=UNFINISHED)
            ),
            models.Index(
                fields=["status", "finished_at"],
                name="leasejobs_run_prune",
                # Not in terms of the status: SQLite can't tell that SUCCESSFUL is none of the unfinished ones.
                condition=models.Q(finished_at__isnull=False),
            ),
            models.Index(
                fields=["job", "finished_at"],
                name="leasejobs_run_history",
                condition=models.Q(finished_at__isnull=False),
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.job_name or self.task} #{self.pk}"

    @property
    def attempt(self) -> int:
        """The number of the current, next or last attempt, from 1; a hand-back burns none."""
        burned = self.failures + self.lost
        return burned if self.status == RunStatus.FAILED else burned + 1

    @property
    def is_orphaned(self) -> bool:
        """Whether its job was deleted."""
        return self.job_id is None and self.origin != Origin.TASK

    @property
    def is_finished(self) -> bool:
        return self.status in FINISHED
