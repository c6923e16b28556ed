"""Many random stories, then every broken engine: ``python -m tests.simulation [--examples N]``; status 1 on a miss."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import django


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--examples", type=int, default=500, help="Stories for the engine as it is (500).")
    parser.add_argument("--mutant-examples", type=int, default=2000, help="At most as many for each broken one (2000).")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="leasejobs-simulation-") as folder:
        os.environ.setdefault("DATABASE_URL", f"sqlite:///{Path(folder) / 'db.sqlite3'}")
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings")
        django.setup()
        return _run(options.examples, options.mutant_examples)


def _run(examples: int, mutant_examples: int) -> int:
    from django.core.management import call_command

    from tests.simulation.clock import virtual_time
    from tests.simulation.machine import LeaseMachine
    from tests.simulation.mutants import MUTANTS
    from tests.simulation.runs import explore, find_failure

    call_command("migrate", verbosity=0)
    missed = 0
    with virtual_time():
        explore(LeaseMachine, examples=examples)
        print(f"The engine kept every rule in {examples} stories.", flush=True)
        for mutant in MUTANTS:
            rule = find_failure(mutant, examples=mutant_examples)
            missed += rule is None
            print(f"{mutant.__name__:28} {rule or 'NOT CAUGHT'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
