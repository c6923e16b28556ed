"""How a job is: one word, its colour, and the reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_leasejobs.models import Job, Source
from django_leasejobs.registry import registry


@dataclass(frozen=True, slots=True)
class State:
    """``kind`` is what filters and colours go by, ``word`` what is shown."""

    kind: str
    reason: str = ""
    since: datetime | None = None

    @property
    def word(self) -> Any:
        return WORDS[self.kind]


WORDS = {
    "enabled": gettext_lazy("enabled"),
    "paused": gettext_lazy("paused"),
    "disabled": gettext_lazy("disabled"),
    "retired": gettext_lazy("retired"),
    "broken": gettext_lazy("broken"),
}


def state_of(job: Job) -> State:
    """Return the state of a job, the one that most needs a person first."""
    if job.retired_at is not None:
        return State("retired", _("it left the code"), job.retired_at)
    if not job.enabled:
        return State("disabled")
    if job.paused_at is not None:
        return State("paused", _pause_words(job), job.paused_at)
    if job.schedule_error:
        return State("broken", job.schedule_error)
    if job.task not in registry.tasks:
        return State("broken", _("no code of this process registers the task %(name)r") % {"name": job.task})
    return State("enabled")


def owned_by_code(job: Job | None) -> bool:
    """Whether code says what the job is, so that only switching and pausing are left to the admin."""
    return job is not None and job.source == Source.CODE


def _pause_words(job: Job) -> str:
    """Say who paused a job, and why."""
    words = _("by %(who)s") % {"who": job.paused_by or _("itself")}
    return f"{words}: {job.pause_reason}" if job.pause_reason else words
