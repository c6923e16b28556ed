"""What commands print: tables, JSON, and every error as one line with an exit status."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error as AnyDatabaseError

from django_leasejobs.durations import rough_duration
from django_leasejobs.engine.readiness import NotReady, require_ready
from django_leasejobs.engine.transactions import alias
from django_leasejobs.exceptions import LeaseJobsError
from django_leasejobs.registry import registry
from django_leasejobs.texts import printable

INTERRUPTED = 130
GAP = "  "


class JobsCommand(BaseCommand):
    """A command on the job tables. Subclasses have ``run``; what goes wrong is told without a traceback."""

    failure_status = 1

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Look for the database first: some of Django's system checks would ask it and show a traceback."""
        with explained_errors(self.failure_status):
            require_ready()
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        status = self.run(options)
        self.stdout.flush()
        if status:
            sys.exit(status)

    def run(self, options: dict[str, Any]) -> int:
        """Do the work; return the exit status."""
        raise NotImplementedError


@contextmanager
def explained_errors(status: int = 1) -> Iterator[None]:
    """Turn the errors that a person can act on into CommandError with this exit status."""
    try:
        yield
    except (LeaseJobsError, NotReady) as error:
        raise CommandError(str(error), returncode=status) from error
    except AnyDatabaseError as error:
        words = str(error).strip().splitlines()
        raise CommandError(
            f"The database {alias()!r} failed: {words[0] if words else type(error).__name__}", returncode=status
        ) from error
    except UnicodeEncodeError as error:
        # Bytes of the command line that are no text, or a terminal that lacks a sign of some job's name.
        raise CommandError(f"Some text can't be looked up or printed: {error}", returncode=status) from error
    except KeyboardInterrupt as error:
        raise CommandError("Interrupted.", returncode=INTERRUPTED) from error
    except BrokenPipeError:
        # Whoever read the output has gone, as after "| head"; the last flush must not fail on it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def require_loaded_code() -> None:
    """Refuse to sync with code that did not load, also with --skip-checks: its jobs would be retired."""
    if registry.refused:
        raise CommandError(f"{registry.refused[0].place}: {registry.refused[0].words}")


def add_format(parser: ArgumentParser, *, plain: str = "table") -> None:
    """Add ``--format``: for people, or JSON for programs."""
    parser.add_argument("--format", choices=(plain, "json"), default=plain, help=f"How to print it ({plain}).")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str) -> str:
    """Lay rows out under the names of their columns; without rows say ``empty`` instead."""
    if not rows:
        return empty
    lines = [[column.upper() for column in columns], *([cell(value) for value in row] for row in rows)]
    widths = [max(len(line[position]) for line in lines) for position in range(len(columns))]
    return "\n".join(
        GAP.join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def cell(value: object) -> str:
    """Write one value for a person: instants in UTC, nothing that could break the line or steer the terminal."""
    if value is None or value == "":
        return "-"
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
    if isinstance(value, timedelta):
        return rough_duration(value)
    return printable(str(value))


def as_json(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """Write a value as JSON: instants in ISO 8601 UTC, lengths of time in seconds."""
    return json.dumps(value, indent=2, default=_json_value)


def _json_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    raise TypeError(f"{value!r} has no form in JSON")
