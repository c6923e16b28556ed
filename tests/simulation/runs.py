"""How the machine is run: to explore the engine, or until a broken one is caught."""

from __future__ import annotations

from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.simulation.machine import LeaseMachine
from tests.simulation.world import World

STEPS = 60


def explore(machine: type[LeaseMachine], *, examples: int) -> None:
    """Run that many random stories; raise AssertionError with the steps of the shortest one that breaks a rule."""
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples, stateful_step_count=STEPS, deadline=None)
    )


def find_failure(mutant: type[World], *, examples: int) -> str | None:
    """Run a broken engine until a rule is broken, the same stories each time; return which rule, or None."""
    broken = type(mutant.__name__, (LeaseMachine,), {"world_class": mutant})
    until_it_fails = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        report_multiple_bugs=False,
    )
    try:
        run_state_machine_as_test(broken, settings=until_it_fails)
    except AssertionError as error:
        return str(error).splitlines()[0]
    return None
