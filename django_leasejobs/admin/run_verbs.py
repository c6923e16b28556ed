"""Cancel or retry a run, release a lease."""

from __future__ import annotations

from collections.abc import Mapping
from random import SystemRandom
from typing import Any

from django import forms
from django.contrib import messages
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from django_leasejobs.engine.cancel import CancelResult, cancel_run
from django_leasejobs.engine.reclaim import release_lease
from django_leasejobs.engine.retry import RETRYABLE, retry_run
from django_leasejobs.models import UNFINISHED, Lease, Run

from .display import link, moment
from .verbs import Done, Verb, VerbForm


class ReasonForm(VerbForm):
    """Why it is done; kept with the run."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=500,
        required=False,
        widget=forms.TextInput(attrs={"class": "vTextField"}),
        help_text=gettext_lazy("Kept with the run."),
    )


def _cancel(run: Run, user: str, answers: Mapping[str, Any]) -> Done:
    reason = _with_reason(_("cancelled by %(user)s") % {"user": user}, answers)
    match cancel_run(run.pk, reason=reason):
        case CancelResult.CANCELLED:
            return Done(words=_("Cancelled"), entry=_("Cancelled: %(reason)s.") % {"reason": reason})
        case CancelResult.REQUESTED:
            words = _("The worker is asked to end it, and learns so with its next renewal")
            return Done(words=words, entry=_("Asked to cancel: %(reason)s.") % {"reason": reason})
        case CancelResult.ALREADY_REQUESTED:
            return Done(words=_("Nothing done, the worker was asked already"), level=messages.WARNING)
        case CancelResult.ALREADY_FINISHED:
            return Done(words=_("Nothing done, over already"), level=messages.WARNING)
        case _:
            return Done(words=_("Nothing done, deleted meanwhile"), level=messages.WARNING)


def _retry(run: Run, user: str, answers: Mapping[str, Any]) -> Done:
    reason = _with_reason(_("retried by %(user)s") % {"user": user}, answers)
    if not retry_run(run.pk, reason=reason):
        words = _("Nothing done, only failed and cancelled runs of jobs that exist can be retried")
        return Done(words=words, level=messages.WARNING)
    return Done(words=_("Ready to run again"), entry=_("Retried: %(reason)s.") % {"reason": reason})


def _release(lease: Lease, user: str, answers: Mapping[str, Any]) -> Done:
    reason = _with_reason(_("lease released by %(user)s") % {"user": user}, answers)
    if not release_lease(lease.pk, reason=reason, rng=SystemRandom()).settlements:
        words = _("Nothing done, over already or in a guarded transaction at the moment")
        return Done(words=words, level=messages.WARNING)
    entry = _("Released lease %(token)s: %(reason)s.") % {"token": lease.pk, "reason": reason}
    to_run = link("run", lease.run_id, _("Run %(id)s") % {"id": lease.run_id})
    return Done(words=_("Released, another worker may take up the run"), entry=entry, about=lease.run, link=to_run)


def _who_holds(lease: Lease) -> str:
    words = {"run": lease.run, "worker": lease.run.worker_name, "renewed": moment(lease.renewed_at), "token": lease.pk}
    return _("Lease %(token)s on %(run)s, held by %(worker)s, last renewed at %(renewed)s") % words


def _with_reason(words: str, answers: Mapping[str, Any]) -> str:
    given = answers.get("reason", "")
    return f"{words}: {given}" if given else words


CANCEL = Verb(
    name="cancel",
    permission="leasejobs.cancel_run",
    label=gettext_lazy("Cancel the run"),
    bulk_label=gettext_lazy("Cancel selected runs"),
    question=gettext_lazy("A run that waits is cancelled at once. The worker of one that runs is asked to end it."),
    act=_cancel,
    fits=lambda run: run.status in UNFINISHED,
    form=ReasonForm,
    bulk_form=ReasonForm,
)
RETRY = Verb(
    name="retry",
    permission="leasejobs.retry_run",
    label=gettext_lazy("Retry"),
    bulk_label=gettext_lazy("Retry selected runs"),
    question=gettext_lazy("The run starts anew as soon as a worker is free, with its counters at zero."),
    act=_retry,
    fits=lambda run: run.status in RETRYABLE and not run.is_orphaned,
    form=ReasonForm,
)
RELEASE = Verb(
    name="release",
    permission="leasejobs.release_lease",
    label=gettext_lazy("Release the lease"),
    bulk_label=gettext_lazy("Release selected leases"),
    question=gettext_lazy(
        "Do this when the worker is gone for good: the run is taken up by another worker at once. If the worker lives"
        " after all, what it still does is discarded, but what it does outside this database happens twice."
    ),
    act=_release,
    describe=_who_holds,
    form=ReasonForm,
    bulk_form=ReasonForm,
)
