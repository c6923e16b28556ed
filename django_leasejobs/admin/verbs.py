"""Things that a person does to a row beside editing it: each a POST, behind its own permission, in the admin log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from django_leasejobs.engine.transactions import in_short_transaction

from .base import EngineAdmin

MOST_AT_ONCE = 1000
MOST_NAMED = 10


class VerbForm(forms.Form):
    """What is asked before a verb is done to ``row`` (None: to several rows)."""

    def __init__(self, *args: Any, row: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.row = row


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a verb came to: words for the person, and an entry for the admin log when it changed anything.

    The names of the rows for which it came to the same follow the words. ``about`` is the row that the entry is about,
    where it isn't the one acted on; ``link`` leads to what was made.
    """

    words: str
    level: int = messages.SUCCESS
    entry: str = ""
    about: Model | None = None
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """``act`` does it for the user of that name.

    ``fits`` tells for which rows it is offered, ``describe`` says what a row is where it is asked about.
    """

    name: str
    permission: str
    label: Any
    bulk_label: Any
    question: Any
    act: Callable[[Any, str, Mapping[str, Any]], Done]
    fits: Callable[[Any], bool] = lambda row: True
    describe: Callable[[Any], str] = str
    form: type[VerbForm] = VerbForm
    bulk_form: type[VerbForm] | None = None

    def allows(self, request: HttpRequest) -> bool:
        return request.user.has_perm(self.permission)


class VerbsAdmin(EngineAdmin):
    """Gives each of ``verbs`` a page of its own for one row, and an action in the list for several."""

    verbs: tuple[Verb, ...] = ()
    change_form_template = "admin/leasejobs/change_form.html"

    def get_urls(self) -> list[Any]:
        return [*map(self._verb_url, self.verbs), *super().get_urls()]

    def _verb_url(self, verb: Verb) -> URLPattern:
        view = self.admin_site.admin_view(partial(self.verb_view, verb=verb))
        name = f"leasejobs_{self.opts.model_name}_{verb.name}"
        return path(f"<path:object_id>/{verb.name}/", view, name=name)

    def verb_view(self, request: HttpRequest, object_id: str, verb: Verb) -> HttpResponse:
        """Ask on GET, act on POST."""
        if request.method not in ("GET", "HEAD", "POST"):
            return HttpResponseNotAllowed(["GET", "HEAD", "POST"])
        if not verb.allows(request):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404(f"There is no {self.opts.verbose_name} {object_id!r}.")
        form = verb.form(request.POST if request.method == "POST" else None, row=row)
        if form.is_bound and form.is_valid():
            self.perform(request, verb, [row], form.cleaned_data)
            return HttpResponseRedirect(self._after(request, row))
        return self.ask(request, verb, [row], form)

    def ask(self, request: HttpRequest, verb: Verb, rows: list[Any], form: VerbForm, **more: Any) -> HttpResponse:
        """Show the page that asks before it is done."""
        context = {
            **self.admin_site.each_context(request),
            "title": verb.label,
            "opts": self.opts,
            "media": self.media + form.media,
            "verb": verb,
            "original": rows[0] if len(rows) == 1 else verb.bulk_label,
            "has_view_permission": self.has_view_permission(request),
            "rows": [(row.pk, verb.describe(row)) for row in rows],
            "form": form,
            "back": self._after(request, rows[0] if len(rows) == 1 else None),
            **more,
        }
        return TemplateResponse(request, "admin/leasejobs/verb.html", context)

    def perform(self, request: HttpRequest, verb: Verb, rows: Iterable[Any], answers: Mapping[str, Any]) -> None:
        """Do it to each row, each in a transaction with its entry in the log, and say what came of it."""
        outcomes: dict[tuple[int, str], list[tuple[str, Done]]] = {}
        for row in rows:
            done = in_short_transaction(self._perform_one)(request, verb, row, answers)
            outcomes.setdefault((done.level, done.words), []).append((str(row), done))
        for (level, words), who in outcomes.items():
            self.message_user(request, _sentence(words, who), level)

    def _perform_one(self, request: HttpRequest, verb: Verb, row: Any, answers: Mapping[str, Any]) -> Done:
        done = verb.act(row, request.user.get_username(), answers)
        if done.entry:
            self.log_change(request, done.about or row, done.entry)
        return done

    def perform_in_bulk(self, request: HttpRequest, verb: Verb, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Do it to the rows chosen in the list, after a question where the verb has one for several rows."""
        rows = list(queryset[: MOST_AT_ONCE + 1])
        if len(rows) > MOST_AT_ONCE:
            words = _("At most %(most)s rows can be chosen at once. Nothing was done.") % {"most": MOST_AT_ONCE}
            self.message_user(request, words, messages.ERROR)
            return None
        if verb.bulk_form is None:
            self.perform(request, verb, rows, {})
            return None
        form = verb.bulk_form(request.POST if "_confirmed" in request.POST else None)
        if rows and not (form.is_bound and form.is_valid()):
            more = {"action": f"{verb.name}_selected", "checkbox": helpers.ACTION_CHECKBOX_NAME}
            return self.ask(request, verb, rows, form, **more)
        self.perform(request, verb, rows, form.cleaned_data if rows else {})
        return None

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        context.update(self.shown_beside(request, context["adminform"].form, obj))
        return super().render_change_form(request, context, add, change, form_url, obj)

    def shown_beside(self, request: HttpRequest, form: Any, obj: Any) -> dict[str, Any]:
        """Return what the page of a row shows beside its form."""
        return {"verbs": [verb for verb in self.verbs if obj and verb.allows(request) and verb.fits(obj)]}

    def _after(self, request: HttpRequest, row: Any) -> str:
        """Return the address to go to: the row's page if it is still there and may be seen."""
        if not self.has_view_permission(request):
            return reverse("admin:index", current_app=self.admin_site.name)
        still_there = row is not None and self.get_queryset(request).filter(pk=row.pk).exists()
        page, args = ("change", [row.pk]) if still_there else ("changelist", [])
        name = f"admin:leasejobs_{self.opts.model_name}_{page}"
        return reverse(name, args=args, current_app=self.admin_site.name)


def bulk(verb: Verb) -> Callable[[VerbsAdmin, HttpRequest, QuerySet[Any]], HttpResponse | None]:
    """Make an action for the list of a verb."""

    def act(modeladmin: VerbsAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        return modeladmin.perform_in_bulk(request, verb, queryset)

    act.__name__ = f"{verb.name}_selected"
    return admin.action(permissions=[verb.name], description=verb.bulk_label)(act)


def _sentence(words: str, who: list[tuple[str, Done]]) -> str:
    names = ", ".join(name for name, _done in who[:MOST_NAMED])
    more = len(who) - MOST_NAMED
    if more > 0:
        names = ngettext("%(names)s and %(more)s more", "%(names)s and %(more)s more", more) % {
            "names": names,
            "more": more,
        }
    link = who[0][1].link if len(who) == 1 else ""
    return format_html("{}: {}. {}", words, names, link) if link else f"{words}: {names}."
