"""Management commands as tasks: ``manage.py <command>`` for each one that ``LEASEJOBS["COMMANDS"]`` allows."""

from __future__ import annotations

import difflib
import functools
import io
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.apps import apps
from django.core.management import BaseCommand, CommandError, call_command, get_commands, load_command_class
from django.core.signals import setting_changed
from django.dispatch import receiver

from .conf import get_settings
from .exceptions import JobDefinitionError
from .registry import COMMAND_PREFIX, Task, registry

logger = logging.getLogger("django_leasejobs.command")


def register_commands() -> None:
    """Let the registry have a task for each allowed command that this code has, and for no other.

    So a worker leaves the runs of a command that its settings or its code lack to one that has it, and the row in
    the database can't widen the list.
    """
    for name in [name for name in registry.tasks if name.startswith(COMMAND_PREFIX)]:
        del registry.tasks[name]
    for command in get_settings().COMMANDS:
        if command in get_commands():
            registry.add_task(command_task(command))


@receiver(setting_changed)
def _follow_the_setting(*, setting: str, **kwargs: object) -> None:
    # The settings were connected before this module, so they have forgotten the old value by now.
    if setting == "LEASEJOBS" and apps.ready:
        register_commands()


def command_task(command: str) -> Task:
    """Return the task of a command, without importing it.

    Raise JobDefinitionError unless ``LEASEJOBS["COMMANDS"]`` allows the command and the project has it.
    """
    allowed, known = get_settings().COMMANDS, get_commands()
    if command not in allowed:
        raise JobDefinitionError(
            f"The management command {command!r} may not run as a job. Add it to LEASEJOBS['COMMANDS'];"
            f" allowed: {', '.join(sorted(allowed)) or 'none'}."
        )
    if command not in known:
        raise JobDefinitionError(f"There is no management command {command!r}. {close_commands(command)}".strip())
    return Task(
        name=f"{COMMAND_PREFIX}{command}",
        func=_function_of(command, known[command]),
        check=functools.partial(_check_arguments, command),
    )


def close_commands(command: str) -> str:
    """Ask whether a command of a similar name was meant; empty where there is none."""
    close = difflib.get_close_matches(command, get_commands(), n=1)
    return f"Did you mean {close[0]!r}?" if close else ""


def _function_of(command: str, app: str) -> Callable[..., None]:
    def run(*args: Any, **options: Any) -> None:
        """Run the command with arguments as on its command line.

        Keyword arguments are those of Django's ``call_command()``.
        """
        output = io.StringIO()
        try:
            _call(command, args, options, output)
        finally:
            for line in output.getvalue().splitlines():
                logger.info("%s", line)

    # What people are shown as the place of the code.
    run.__module__, run.__qualname__, run.__name__ = f"{app}.management.commands", command, command
    return run


def _call(command: str | BaseCommand, args: Sequence[Any], options: Mapping[str, Any], output: io.StringIO) -> None:
    call_command(command, *args, stdout=output, stderr=output, **options)


def _check_arguments(command: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Ask the command's own parser about the arguments; raise JobDefinitionError with what it says.

    Imports the command, so not while models are being imported: such a job is checked by its run.
    """
    if not apps.models_ready:
        return
    try:
        loaded = load_command_class(get_commands()[command], command)
        parser = loaded.create_parser("", command)
    except (Exception, SystemExit) as error:
        words = f"The management command {command!r} can't be loaded: {type(error).__name__}: {error}."
        raise JobDefinitionError(words) from error
    without_option = [action.dest for action in parser._actions if not action.option_strings and action.dest in kwargs]
    field, reason = _refusal(loaded, args, kwargs, without_option)
    if reason:
        words = f"The arguments don't fit the management command {command!r}: {reason.rstrip('.')}."
        raise JobDefinitionError(words, field=field)


def _refusal(
    command: BaseCommand, args: Sequence[Any], kwargs: Mapping[str, Any], without_option: Sequence[str]
) -> tuple[str, str]:
    """Return ``args`` or ``kwargs`` and what is wrong there; an empty reason if nothing is."""
    # All of call_command's rules for arguments, up to the point where the command would run.
    command.execute = lambda *args, **options: None  # type: ignore[method-assign]
    try:
        _call(command, args, kwargs, io.StringIO())
    except SystemExit:
        return "args", "they only print a help text or a version"
    except TypeError as error:
        return "kwargs", str(error)
    except CommandError as error:
        return "args" if args or not kwargs else "kwargs", str(error).removeprefix("Error: ")
    except Exception as error:  # noqa: BLE001  (a parser may call any code of the command)
        if without_option:
            return "kwargs", f"{without_option[0]!r} has no option, so its value goes into the list of arguments"
        return "args" if args or not kwargs else "kwargs", f"{type(error).__name__}: {error}"
    return "", ""
