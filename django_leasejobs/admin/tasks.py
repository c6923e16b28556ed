"""The registered tasks as choices: the only code that a form can put behind a job."""

from __future__ import annotations

import inspect

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from django_leasejobs.registry import Task, registry

MAX_LABEL = 120


def task_choices(stored: str) -> list[tuple[str, str]]:
    """Return the registered tasks with their parameters, and the stored one if no code registers it."""
    choices = [("", "---------")]
    if stored and stored not in registry.tasks:
        choices.append((stored, _("%(name)s (no code registers it)") % {"name": stored}))
    return choices + [(task.name, _label(task)) for task in sorted(registry.tasks.values(), key=lambda task: task.name)]


def task_help(stored: str) -> SafeString:
    """Say what the chosen task does and takes, or that nobody here knows it. Escaped: the admin takes help for HTML."""
    return escape(_task_help(stored))


def where_defined(task_name: str) -> str:
    """Return the module and function behind a task, or nothing where this process doesn't know it."""
    task = registry.tasks.get(task_name)
    return "" if task is None else task.where


def _task_help(stored: str) -> str:
    if not stored:
        return _("What runs. Code registers tasks with @job or @task; nothing else can be chosen.")
    task = registry.tasks.get(stored)
    if task is None:
        return _(
            "No code of this process registers %(name)r. It is kept, its arguments can't be checked, and its runs wait"
            " for a worker that knows it."
        ) % {"name": stored}
    words = task.description or _("It has no description.")
    return f"{task.where}{task.signature}: {words}"


def _label(task: Task) -> str:
    summary = task.description.partition("\n")[0]
    text = f"{task.name}{_parameters(task)}" + (f": {summary}" if summary else "")
    return text if len(text) <= MAX_LABEL else f"{text[: MAX_LABEL - 3]}..."


def _parameters(task: Task) -> str:
    """Write the signature without its annotations, which say little to someone who fills in a form."""
    empty = inspect.Parameter.empty
    plain = [item.replace(annotation=empty) for item in task.signature.parameters.values()]
    return str(inspect.Signature(plain))
