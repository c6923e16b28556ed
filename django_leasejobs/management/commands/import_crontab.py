from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from django_leasejobs.management.crontab_lines import CREATED, LEFT_OUT, UNCHANGED, Line, import_entries
from django_leasejobs.management.output import JobsCommand, add_format, as_json, table
from django_leasejobs.schedules import zone
from django_leasejobs.schedules.crontab import EnvEntry, JobEntry, entry_fields, read_crontab

COLUMNS = ("line", "outcome", "job", "what it says", "reason")
LONGEST = 50


class Command(JobsCommand):
    help = (
        "Turns the lines of a crontab that run management commands into jobs of the admin, and says of each other line"
        " what to do. Importing twice changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", help="The crontab; - reads standard input, as in: crontab -l | ... import_crontab -"
        )
        parser.add_argument("--dry-run", action="store_true", help="Only say what would become of each line.")
        parser.add_argument("--system", action="store_true", help="The lines have a user column, as in /etc/cron.d.")
        parser.add_argument(
            "--timezone",
            default=settings.TIME_ZONE,
            metavar="ZONE",
            help="The zone of lines without a CRON_TZ: that of the machine the crontab is from (TIME_ZONE).",
        )
        add_format(parser)

    def run(self, options: dict[str, Any]) -> int:
        zone(options["timezone"])
        entries = read_crontab(_read(options["file"]), system=options["system"])
        source = "a crontab" if options["file"] == "-" else Path(options["file"]).name
        lines = import_entries(entries, source=source, timezone=options["timezone"], dry_run=options["dry_run"])
        if options["format"] == "json":
            self.stdout.write(as_json(_facts(source, lines, dry_run=options["dry_run"])))
            return 0
        rows = [(line.entry.line, line.outcome, line.job, _said(line), line.reason) for line in lines]
        self.stdout.write(table(COLUMNS, rows, empty="The file has no entries."))
        self.stdout.write(_summary(lines, dry_run=options["dry_run"]))
        return 0


def _read(name: str) -> str:
    try:
        content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name!r} can't be read: {error.strerror}.") from None
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise CommandError(f"Line {number} of {name!r} is not UTF-8; convert the file first, as with iconv.") from None


def _facts(source: str, lines: list[Line], *, dry_run: bool) -> dict[str, Any]:
    entries = [{**entry_fields(line.entry), "outcome": line.outcome, "reason": line.reason} for line in lines]
    return {"file": source, "dry_run": dry_run, "entries": entries}


def _said(line: Line) -> str:
    entry = line.entry
    if isinstance(entry, EnvEntry):
        text = f"{entry.name}={entry.value}"
    elif isinstance(entry, JobEntry):
        text = f"{entry.expr} {entry.command}"
    else:
        text = entry.text
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _summary(lines: list[Line], *, dry_run: bool) -> str:
    counts = {outcome: sum(line.outcome == outcome for line in lines) for outcome in (CREATED, UNCHANGED, LEFT_OUT)}
    words = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return f"\n{words}. Nothing was written: this was a dry run." if dry_run else f"\n{words}."
