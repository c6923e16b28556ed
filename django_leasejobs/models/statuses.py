from __future__ import annotations

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class RunStatus(TextChoices):
    """Where a run is in its life; the first four are named as in ``django.tasks``."""

    READY = "READY", _("ready")
    RUNNING = "RUNNING", _("running")
    SUCCESSFUL = "SUCCESSFUL", _("successful")
    FAILED = "FAILED", _("failed")
    CANCELLED = "CANCELLED", _("cancelled")
    MISSED = "MISSED", _("missed")
    SKIPPED = "SKIPPED", _("skipped")


UNFINISHED = (RunStatus.READY, RunStatus.RUNNING)
FINISHED = tuple(status for status in RunStatus if status not in UNFINISHED)


class Origin(TextChoices):
    """What made a run."""

    SCHEDULE = "schedule", _("schedule")
    MANUAL = "manual", _("by hand")
    BACKFILL = "backfill", _("backfill")
    TASK = "task", _("enqueued task")


class Outcome(TextChoices):
    """How a lease ended that did not end its run well."""

    FAILED = "failed", _("failed")
    TIMED_OUT = "timed_out", _("timed out")
    LOST = "lost", _("lease lost")
    RELEASED = "released", _("handed back")
    CANCELLED = "cancelled", _("cancelled")


class JobState(TextChoices):
    """Whether a job's schedule is followed, and if not, why."""

    ACTIVE = "active", _("active")
    PAUSED = "paused", _("paused")
    DISABLED = "disabled", _("disabled")
    RETIRED = "retired", _("retired")
    BROKEN = "broken", _("broken")


class Source(TextChoices):
    """Where a job is defined."""

    CODE = "code", _("code")
    ADMIN = "admin", _("admin")
