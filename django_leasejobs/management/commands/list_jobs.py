from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django_leasejobs.engine.overview import JobOverview, all_jobs
from django_leasejobs.management.output import JobsCommand, add_format, as_json, table

COLUMNS = ("name", "schedule", "next", "late", "now", "last outcome", "ended", "defined in", "state")
EMPTY = "There are no jobs. Define some in a jobs.py and run sync_jobs, or add them in the admin."


class Command(JobsCommand):
    help = "Lists the jobs with their next instants, lateness, unfinished runs and last outcomes."

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
    now = ", ".join(f"{count} {word}" for count, word in ((job.running, "running"), (job.waiting, "waiting")) if count)
    return (
        job.name, job.words, job.next_run_at, job.late, now, job.last_status, job.last_ended_at, job.source, job.state,
    )  # fmt: skip
