"""How a job is: one word, its colour, and the reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from django_leasejobs.models import Job, JobState, Source
from django_leasejobs.registry import registry


@dataclass(frozen=True, slots=True)
class Shown:
    """A job's state with its reason, for people."""

    state: JobState
    reason: str = ""
    since: datetime | None = None


def state_of(job: Job) -> Shown:
    """Return the state of a job; one that is active here but whose task this process lacks is broken too."""
    match job.state:
        case JobState.RETIRED:
            return Shown(JobState.RETIRED, _("it left the code"), job.retired_at)
        case JobState.PAUSED:
            return Shown(JobState.PAUSED, _pause_words(job), job.paused_at)
        case JobState.BROKEN:
            return Shown(JobState.BROKEN, job.schedule_error)
        case JobState.ACTIVE if job.task not in registry.tasks:
            words = _("no code of this process registers the task %(name)r") % {"name": job.task}
            return Shown(JobState.BROKEN, words)
        case state:
            return Shown(state)


def owned_by_code(job: Job | None) -> bool:
    """Whether code says what the job is, so that only switching and pausing are left to the admin."""
    return job is not None and job.source == Source.CODE


def _pause_words(job: Job) -> str:
    """Say who paused a job, and why."""
    words = _("by %(who)s") % {"who": job.paused_by or _("itself")}
    return f"{words}: {job.pause_reason}" if job.pause_reason else words
