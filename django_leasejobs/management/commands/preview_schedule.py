from __future__ import annotations

from argparse import ArgumentParser
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from django_leasejobs.durations import A_MOMENT
from django_leasejobs.management.instants import local, read_instant
from django_leasejobs.management.output import add_format, as_json, explained_errors, table
from django_leasejobs.schedules import Schedule, parse, zone

MOST = 10_000
COLUMNS = ("local time", "UTC", "clock change")


class Command(BaseCommand):
    help = "Shows when a schedule would run, and which instants a change of the clock touches. Needs no database."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("text", help="The schedule: '0 2 * * 1-5', '@every 15m', '@at 2027-03-27T02:30' and so on.")
        parser.add_argument("--timezone", default="UTC", metavar="ZONE", help="The zone it is read in (UTC).")
        parser.add_argument("--count", type=int, default=10, metavar="N", help="How many instants (10).")
        parser.add_argument(
            "--from", dest="start", metavar="TIME", help="The first moment to look at, local to the zone (now)."
        )
        parser.add_argument("--name", default="", help="The job's name, from which H is hashed.")
        add_format(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        with explained_errors():
            schedule, shown = _preview(options)
            self.stdout.write(shown)
        if schedule.hashed and not options["name"]:
            self.stderr.write("H is hashed from the job's name, so no job has these instants: give --name.")


def _preview(options: dict[str, Any]) -> tuple[Schedule, str]:
    if not 1 <= options["count"] <= MOST:
        raise CommandError(f"--count {options['count']}: a number from 1 to {MOST:,} is needed.")
    where = zone(options["timezone"])
    schedule = parse(options["text"], options["timezone"], name=options["name"])
    start = datetime.now(UTC)
    if options["start"] is not None:
        start = read_instant("--from", options["start"], where)
    instants = list(islice(schedule.walk(start - A_MOMENT), options["count"]))
    if options["format"] == "json":
        return schedule, as_json(_facts(schedule, instants))
    rows = [
        (local(instant, where), f"{instant:%Y-%m-%d %H:%M:%S}Z", schedule.touched_by_clock_change(instant))
        for instant in instants
    ]
    return schedule, f"{schedule.describe()}\n\n{table(COLUMNS, rows, empty='No instant is to come.')}"


def _facts(schedule: Schedule, instants: list[datetime]) -> dict[str, Any]:
    return {
        "schedule": schedule.text,
        "timezone": schedule.timezone,
        "words": schedule.describe(),
        "instants": [
            {
                "local": instant.astimezone(zone(schedule.timezone)).isoformat(),
                "utc": instant,
                "clock_change": schedule.touched_by_clock_change(instant),
            }
            for instant in instants
        ],
    }
