from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from django_leasejobs.engine.backfill import DEFAULT_LIMIT, Backfilled, backfill_job
from django_leasejobs.engine.jobs import find_job
from django_leasejobs.management.instants import local, read_instant
from django_leasejobs.management.output import JobsCommand
from django_leasejobs.models import Job
from django_leasejobs.schedules import zone
from django_leasejobs.texts import printable


class Command(JobsCommand):
    help = (
        "Makes one run for each instant of a range that has none, oldest first. Running it twice makes nothing twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The job's name; see list_jobs.")
        parser.add_argument(
            "--from", dest="start", required=True, metavar="TIME", help="The first moment, local to the job's zone."
        )
        parser.add_argument(
            "--to", dest="end", required=True, metavar="TIME", help="The last moment; a day alone includes all of it."
        )
        parser.add_argument("--dry-run", action="store_true", help="Only say how many runs it would make.")
        parser.add_argument(
            "--limit", type=int, default=DEFAULT_LIMIT, metavar="N", help=f"Refuse to make more ({DEFAULT_LIMIT:,})."
        )

    def run(self, options: dict[str, Any]) -> int:
        if options["limit"] < 1:
            raise CommandError(f"--limit {options['limit']}: at least 1 is needed.")
        job = find_job(options["name"])
        where = zone(job.timezone)
        done = backfill_job(
            job.name,
            start=read_instant("--from", options["start"], where),
            end=read_instant("--to", options["end"], where, whole_day=True),
            limit=options["limit"],
            dry_run=options["dry_run"],
            triggered_by="backfill_job",
        )
        for line in _told(job, done, options["limit"]):
            self.stdout.write(printable(line))
        return 0


def _told(job: Job, done: Backfilled, limit: int) -> list[str]:
    where, count = zone(job.timezone), len(done.instants)
    runs = f"{count:,} run{'' if count == 1 else 's'}"
    verb = "Would make" if done.dry_run else "Made"
    lines = [f"{verb} {runs} of {job.name}."]
    if done.instants:
        first, last = (local(instant, where) for instant in (done.instants[0], done.instants[-1]))
        lines = [f"{verb} {runs} of {job.name}, oldest first: {first} to {last}."]
    if done.dry_run and count > limit:
        lines.append(f"That is more than the limit of {limit:,}: shorten the range, or give --limit {count}.")
    if done.recorded:
        lines.append(f"{done.recorded:,} have a run already.")
    if done.excluded:
        lines.append(f"{done.excluded:,} are left out: calendars exclude them.")
    if done.unclear:
        lines.append(f"{done.unclear:,} are left out: a MISSED or SKIPPED row counts instants of an earlier schedule.")
    if done.left_to_plan is not None:
        lines.append(f"From {local(done.left_to_plan, where)} on the workers plan them by themselves.")
    return lines
