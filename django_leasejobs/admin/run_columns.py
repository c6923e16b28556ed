"""What the pages of runs show of a run and of an attempt."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_leasejobs.clock import as_utc
from django_leasejobs.models import Attempt, Origin, Run, RunStatus

from .display import EMPTY, badge, column, link, moment, pre, progress, rough, short_moment


def run_time(run: Any) -> timedelta | None:
    """How long the last attempt took, or takes so far."""
    if run.last_attempted_at is None or run.status == RunStatus.READY:
        return None
    end = as_utc(run.now if run.finished_at is None else run.finished_at)
    return max(end - as_utc(run.last_attempted_at), timedelta(0))


def lateness(run: Run) -> timedelta | None:
    """How long after its instant a scheduled run first started."""
    if run.origin != Origin.SCHEDULE or run.scheduled_for is None or run.started_at is None:
        return None
    return run.started_at - run.scheduled_for


def _instants(run: Run) -> str:
    first = moment(run.scheduled_for)
    return f"{first} - {moment(run.scheduled_until)} ({run.instants})" if run.instants > 1 else first


def _short_instants(run: Run) -> str:
    first = short_moment(run.scheduled_for)
    return _("%(first)s and %(more)s more") % {"first": first, "more": run.instants - 1} if run.instants > 1 else first


def _job(run: Run) -> Any:
    """The job, or the task of a run that has none."""
    name = run.job_name or run.task
    return link("job", run.job_id, name) if run.job_id else name


def _progress(run: Run) -> str:
    """Of a running run the lease knows best."""
    lease = getattr(run, "lease", None)
    return progress(lease.progress if lease is not None and lease.progress is not None else run.progress)


def _lease(run: Run) -> Any:
    """Link to the lease of a running run."""
    lease = getattr(run, "lease", None)
    return EMPTY if lease is None else link("lease", lease.pk, lease.pk)


def _what_happened(attempt: Attempt) -> Any:
    folded = format_html_join(
        "",
        "<details><summary>{}</summary>{}</details>",
        [(title, pre(text)) for title, text in ((_("Traceback"), attempt.traceback), (_("Log"), attempt.log)) if text],
    )
    return format_html("{}{}", pre(attempt.error), folded)


what_happened_column = column(gettext_lazy("what happened"), _what_happened, name="what_happened")
short_instant_column = column(gettext_lazy("nominal instant"), _short_instants, name="short_instant")
status_column = column(gettext_lazy("status"), lambda run: badge(run.get_status_display(), run.status), name="badge")
instant_column = column(gettext_lazy("nominal instant"), _instants, name="instant")
job_column = column(gettext_lazy("job"), _job, name="job_link")
time_column = column(gettext_lazy("duration"), lambda run: rough(run_time(run)), name="run_time")
late_column = column(gettext_lazy("lateness"), lambda run: rough(lateness(run)), name="lateness")
attempt_column = column(gettext_lazy("attempt"), lambda run: run.attempt, name="attempt_number")
lease_column = column(gettext_lazy("held by lease"), _lease, name="lease_link")
progress_column = column(gettext_lazy("progress"), _progress, name="progress_words")
