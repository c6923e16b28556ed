"""The lease protocol under a virtual clock: the real engine, a real database, three workers, every kind of fault.

A failure prints the steps that lead to it. ``python -m tests.simulation`` runs longer, with every broken engine.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection

from tests.simulation import mutants
from tests.simulation.clock import virtual_time
from tests.simulation.machine import LeaseMachine
from tests.simulation.runs import explore, find_failure

# Those that show within seconds; the others need rarer interleavings.
QUICK = [
    mutants.RenewByWorker,
    mutants.CursorInItsOwnTransaction,
    mutants.FinishInTwoTransactions,
    mutants.ReclaimCountsNothing,
    mutants.ReclaimByTheWorkersClock,
    mutants.ReclaimLeavesTheLease,
    mutants.ExclusiveForgotten,
    mutants.NoSelfRestraint,
    mutants.PlanFromNow,
]


@pytest.fixture(autouse=True)
def _virtual_time(transactional_db: None) -> Iterator[None]:
    with virtual_time():
        yield


def test_the_invariants_hold_whatever_happens_in_whatever_order():
    explore(LeaseMachine, examples=15)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="what is broken here is broken alike on every database")
@pytest.mark.parametrize("mutant", QUICK, ids=lambda mutant: mutant.__name__)
def test_a_broken_engine_is_caught(mutant):
    assert find_failure(mutant, examples=500)
