"""Judges a demo from what was due and what is in the tables. Pure: it never asks the code that it judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Row:
    """A scheduled row of the run table: it stands for ``instants`` instants of ``job`` from ``first`` to ``last``."""

    job: str
    first: datetime
    last: datetime
    instants: int = 1


@dataclass(frozen=True, slots=True)
class Findings:
    """What was looked at, and in words each thing that is missing or too many."""

    looked_at: int
    lost: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()


def judge_instants(due: Mapping[str, Sequence[datetime]], rows: Iterable[Row]) -> Findings:
    """Demand exactly one row for each due instant of each job, and no row for an instant that was not due."""
    wanted = {(job, instant) for job, instants in due.items() for instant in instants}
    found: Counter[tuple[str, datetime]] = Counter()
    lost, doubled = [], []
    for row in rows:
        covered = [instant for instant in due.get(row.job, ()) if row.first <= instant <= row.last]
        found.update((row.job, instant) for instant in covered)
        words = f"{row.job}: a row says that it stands for {row.instants} instants from {row.first}, not {len(covered)}"
        if row.instants < len(covered):
            lost.append(words)
        elif row.instants > len(covered):
            doubled.append(words)
    lost += [f"{job}: no row for {instant}" for job, instant in sorted(wanted - found.keys())]
    doubled += [f"{job}: {count} rows for {instant}" for (job, instant), count in sorted(found.items()) if count > 1]
    return Findings(len(wanted), tuple(lost), tuple(doubled))


def judge_effects(wanted: Mapping[int, Iterable[str]], found: Iterable[tuple[int, str]]) -> Findings:
    """Demand each wanted effect of each run exactly once, and no other effect. Keys are ids of runs."""
    expected = {(run_id, what) for run_id, effects in wanted.items() for what in effects}
    counted = Counter(found)
    lost = [f"run {run_id}: {what} was never done" for run_id, what in sorted(expected - counted.keys())]
    doubled = [
        f"run {run_id}: {what} was done {count} times, not {int((run_id, what) in expected)}"
        for (run_id, what), count in sorted(counted.items())
        if count > int((run_id, what) in expected)
    ]
    return Findings(len(expected), tuple(lost), tuple(doubled))
