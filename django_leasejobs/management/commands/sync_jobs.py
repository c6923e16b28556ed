from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django_leasejobs.engine.sync import Synced, sync_jobs
from django_leasejobs.management.output import JobsCommand, cell, require_loaded_code
from django_leasejobs.registry import registry


class Command(JobsCommand):
    help = "Brings the job table in line with the jobs that the code defines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="Change nothing; print what would change, and exit 1 if anything."
        )

    def run(self, options: dict[str, Any]) -> int:
        require_loaded_code()
        check = options["check"]
        synced = sync_jobs(registry.jobs.values(), dry_run=check)
        for line in _lines(synced, would="would be " if check else ""):
            self.stdout.write(line)
        for name in synced.conflicts:
            self.stderr.write(
                f"Conflict: the code defines {name!r}, but a job of this name was added in the admin and stays as it"
                " is. Rename or delete one of them."
            )
        if not synced.changes:
            self.stdout.write(f"Nothing to change: {len(registry.jobs)} jobs in the code.")
        return 1 if check and synced.changes else 0


def _lines(synced: Synced, *, would: str) -> Iterator[str]:
    for name in synced.created:
        yield f"{name}: {would}created"
    for name, changes in synced.updated.items():
        yield f"{name}: {would}updated"
        for column, (before, after) in changes.items():
            yield f"    {column}: {cell(before)} -> {cell(after)}"
    for name in synced.revived:
        yield f"{name}: {would}revived, the code defines it again"
    for name in synced.retired:
        yield f"{name}: {would}retired, no code defines it any more"
    for name in synced.kept_for_others:
        yield f"{name}: kept, as a running worker's code still knows its task"
