from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django_leasejobs.engine.overview import JobOverview, all_jobs
from django_leasejobs.management.output import JobsCommand, add_format, as_json, table

COLUMNS = ("name", "schedule", "next", "late", "last outcome", "ended", "defined in", "state")
EMPTY = "There are no jobs. Define some in a jobs.py and run sync_jobs, or add them in the admin."


class Command(JobsCommand):
    help = "Lists the jobs with their next instants, last outcomes and lateness."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_format(parser)

    def run(self, options: dict[str, Any]) -> int:
        jobs = all_jobs()
        if options["format"] == "json":
            self.stdout.write(as_json([asdict(job) for job in jobs]))
        else:
            self.stdout.write(table(COLUMNS, [_row(job) for job in jobs], empty=EMPTY))
        return 0


def _row(job: JobOverview) -> tuple[object, ...]:
    return job.name, job.words, job.next_run_at, job.late, job.last_status, job.last_ended_at, job.source, job.state
