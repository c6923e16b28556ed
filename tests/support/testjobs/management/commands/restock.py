"""A command that needs an argument."""

from __future__ import annotations

from django.core.management import BaseCommand


class Command(BaseCommand):
    def add_arguments(self, parser):
        parser.add_argument("warehouse")
        parser.add_argument("--level", type=int, required=True)

    def handle(self, *args, **options):
        self.stdout.write(options["warehouse"])
