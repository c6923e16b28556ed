from __future__ import annotations

from django_leasejobs.management.commands.run_job_worker import Command as RunJobWorker
from django_leasejobs.worker import service


class Command(RunJobWorker):
    help = "The worker, but it takes a dead line for dead after a second."

    def handle(self, *args, **options):
        service.STUCK_AFTER = 1.0
        super().handle(*args, **options)
