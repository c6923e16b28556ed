"""Calls management commands as a shell does: output and exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from io import StringIO

from django.core.management import CommandError, call_command

from tests.support.processes import ROOT


@dataclass(frozen=True)
class Called:
    status: int
    out: str
    err: str = ""

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def call(name: str, *arguments: str) -> Called:
    """Call a command in this process."""
    out, err, status, words = StringIO(), StringIO(), 0, ""
    try:
        call_command(name, *arguments, stdout=out, stderr=err)
    except CommandError as error:
        status, words = error.returncode, str(error)
    except SystemExit as error:
        status = int(error.code or 0)
    return Called(status, out.getvalue(), err.getvalue() + words)


def shell(*arguments: str, **environment: str) -> Called:
    """Call a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Called(done.returncode, done.stdout, done.stderr)
