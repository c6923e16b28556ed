"""Draws what the demo sees."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from django_leasejobs.models import Lease, Run, Worker

from .facts import Facts

COLOURS = {"READY": "cyan", "RUNNING": "yellow", "SUCCESSFUL": "green", "FAILED": "bold red", "MISSED": "magenta"}
# A blank line, a title and a head for each of three tables, and a line for what the terminal echoes.
FRAMES = 10
FEWEST_RUNS = 3
FEWEST_LINES = 2
BAR = 10


@dataclass(frozen=True, slots=True)
class Told:
    """A line of the story, ``seconds`` after its beginning."""

    seconds: float
    words: str


def picture(facts: Facts, heading: str, story: Sequence[Told], dead: Collection[str], height: int) -> RenderableType:
    """Draw all that fits on a screen of this height: the latest lines of the story, all leases, the latest runs."""
    room = height - 1 - FRAMES - len(facts.leases) - len(facts.workers)
    story = story[-max(FEWEST_LINES, room - FEWEST_RUNS) :]
    runs = max(FEWEST_RUNS, room - len(story))
    lines = [Text(f"{told.seconds:6.1f} s  {told.words}", no_wrap=True, overflow="ellipsis") for told in story]
    return Group(
        Text(heading, style="bold", no_wrap=True, overflow="ellipsis"),
        *lines,
        _leases(facts, dead),
        _workers(facts, dead),
        _runs(facts.runs[:runs]),
    )


def _table(title: str, **columns: int) -> Table:
    """Return an empty table; ``columns`` are the heads with their least widths, so that nothing jumps about."""
    table = Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0))
    for column, width in columns.items():
        table.add_column(
            column.replace("_", " "), header_style="dim", min_width=width, no_wrap=True, overflow="ellipsis"
        )
    return table


def _leases(facts: Facts, dead: Collection[str]) -> Table:
    table = _table("Leases", token=5, job=21, holder=17, expires_in=10, _=BAR, done=5)
    for lease in facts.leases:
        left = (lease.expires_at - facts.now).total_seconds()
        table.add_row(
            str(lease.pk),
            lease.run.job_name,
            _worker_name(lease.run.worker_name, dead),
            f"{left:.1f} s" if left > 0 else Text("expired", style="bold red"),
            ProgressBar(lease.duration.total_seconds(), max(0.0, left), width=BAR),
            _progress(lease),
        )
    return table


def _workers(facts: Facts, dead: Collection[str]) -> Table:
    table = _table("Workers", name=17, process=7, heartbeat=10, runs_now=8)
    for worker in facts.workers:
        table.add_row(
            _worker_name(worker.name, dead),
            str(worker.pid),
            f"{_span(facts.now - worker.heartbeat_at)} ago",
            str(sum(_is_held_by(lease, worker) for lease in facts.leases)),
        )
    return table


def _runs(runs: Sequence[Run]) -> Table:
    table = _table("Runs", run=5, job=21, due=8, status=10, attempt=7, worker=8, took=6)
    for run in runs:
        table.add_row(
            str(run.pk),
            run.job_name,
            _clock(run.scheduled_for) if run.scheduled_for else "by hand",
            Text(run.status, style=COLOURS.get(run.status, "dim")),
            str(run.attempt),
            run.worker_name,
            _span(run.finished_at - run.started_at) if run.finished_at and run.started_at else "",
        )
    return table


def _is_held_by(lease: Lease, worker: Worker) -> bool:
    return lease.worker_id == worker.pk


def _worker_name(name: str, dead: Collection[str]) -> Text:
    return Text(f"{name} (killed)", style="bold red") if name in dead else Text(name)


def _progress(lease: Lease) -> str:
    value = lease.progress
    return f"{value['done']}/{value['total']}" if value else ""


def _span(span: timedelta) -> str:
    return f"{max(0.0, span.total_seconds()):.1f} s"


def _clock(instant: datetime) -> str:
    return instant.astimezone().strftime("%H:%M:%S")
