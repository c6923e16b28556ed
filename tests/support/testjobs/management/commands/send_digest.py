"""A command with arguments of all kinds, for jobs that run commands."""

from __future__ import annotations

from django.core.management import BaseCommand


class Command(BaseCommand):
    help = "Writes what it was called with."

    def add_arguments(self, parser):
        parser.add_argument("--days", type=int, default=1)
        parser.add_argument("--now", action="store_true")
        parser.add_argument("recipients", nargs="*")

    def handle(self, *args, **options):
        self.stdout.write(f"{options['recipients']} {options['days']} {options['now']}")
