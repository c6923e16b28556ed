from __future__ import annotations

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from testproject.demo.options import DemoOptions, add_arguments
from testproject.demo.processes import ROOT


class Command(BaseCommand):
    help = (
        "Shows the app at work on a database of its own: two workers share a shop's jobs, one is killed in the middle"
        " of a run, the other one finishes it. Goes on until Ctrl-C."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, ends: bool, postgres: bool, port: int | None, **options: Any) -> None:
        """Become a process whose settings point at the demo's database: this one has read the user's."""
        demo = DemoOptions(ends=ends, postgres=postgres, port=port)
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "testproject.demo", *demo.command_line()])
