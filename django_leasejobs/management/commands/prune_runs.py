from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django_leasejobs.conf import get_settings
from django_leasejobs.engine.prune import count_old_runs, prune_runs
from django_leasejobs.management.output import JobsCommand, table

BATCH = 1000


class Command(JobsCommand):
    help = "Deletes the runs that are past their retention (LEASEJOBS['RETENTION']), in bounded batches."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Only count what would be deleted.")

    def run(self, options: dict[str, Any]) -> int:
        retention = get_settings().RETENTION
        if options["dry_run"]:
            counts = count_old_runs(retention)
            rows = [(status, kept or "for ever", counts.get(status, 0)) for status, kept in retention.items()]
            self.stdout.write(table(("status", "kept", "to delete"), rows, empty=""))
            self.stdout.write(f"{sum(counts.values())} runs would be deleted.")
            return 0
        deleted = 0
        while (batch := prune_runs(retention, limit=BATCH)) > 0:
            deleted += batch
        self.stdout.write(f"{deleted} runs deleted.")
        return 0
