"""Management commands as jobs: one task for all that ``LEASEJOBS["COMMANDS"]`` allows."""

from __future__ import annotations

import io
import logging
from typing import Any

from django.core.management import call_command

from .conf import get_settings
from .exceptions import JobDefinitionError
from .registry import Task, registry

logger = logging.getLogger("django_leasejobs.command")

COMMAND_TASK = "manage.py"


def run_command(command: str, *args: Any, **options: Any) -> None:
    """Run a management command that ``LEASEJOBS["COMMANDS"]`` allows; what it prints goes to the run's log.

    Raise JobDefinitionError for any other command: the row in the database can't widen the list.
    """
    require_allowed(command)
    output = io.StringIO()
    try:
        call_command(command, *args, stdout=output, stderr=output, **options)
    finally:
        for line in output.getvalue().splitlines():
            logger.info("%s", line)


def require_allowed(command: str) -> None:
    """Raise JobDefinitionError unless the command may be run as a job."""
    allowed = get_settings().COMMANDS
    if command not in allowed:
        known = ", ".join(sorted(allowed)) or "none"
        raise JobDefinitionError(
            f"The management command {command!r} may not run as a job. Add it to LEASEJOBS['COMMANDS'];"
            f" allowed: {known}."
        )


registry.add_task(Task(name=COMMAND_TASK, func=run_command))
