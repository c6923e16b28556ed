"""How many next instants of ordinary expressions are found in a second, next to bare croniter.

Each finds one instant after the other from the same start. croniter gets what its own users give it, an aware
datetime in the zone; in UTC and in Europe/Berlin. Each figure is the best of several rounds.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from zoneinfo import ZoneInfo

from croniter import croniter

from django_leasejobs.schedules import parse

EXPRESSIONS = ("* * * * *", "*/5 * * * *", "0 * * * *", "30 2 * * *", "0 9 * * 1-5", "15 6 1 * *", "0 0 1,15 * 1")
ZONES = ("UTC", "Europe/Berlin")
START = datetime(2026, 1, 1, tzinfo=UTC)


def ours(expression: str, zone: str, number: int) -> None:
    schedule, instant = parse(expression, zone), START
    for _ in range(number):
        found = schedule.next_after(instant)
        assert found is not None
        instant = found


def bare_croniter(expression: str, zone: str, number: int) -> None:
    iterator = croniter(expression, START.astimezone(ZoneInfo(zone)))
    for _ in range(number):
        iterator.get_next(datetime)


def per_second(walk: Callable[[str, str, int], None], expression: str, zone: str, number: int, rounds: int) -> float:
    """Return the calls per second of the best round."""
    best = 0.0
    for _ in range(rounds):
        began = time.perf_counter()
        walk(expression, zone, number)
        best = max(best, number / (time.perf_counter() - began))
    return best


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks next_after", description=__doc__)
    parser.add_argument("--calls", type=int, default=2000, help="Instants to find in a round (2000).")
    parser.add_argument("--rounds", type=int, default=3, help="Rounds for each figure (3).")
    options = parser.parse_args(arguments)
    print(f"Python {platform.python_version()}, croniter {version('croniter')}, calls per second\n")
    print(f"{'expression':<16}{'zone':<16}{'next_after':>12}{'croniter':>12}{'times':>8}")
    for expression in EXPRESSIONS:
        for zone in ZONES:
            mine = per_second(ours, expression, zone, options.calls, options.rounds)
            other = per_second(bare_croniter, expression, zone, options.calls, options.rounds)
            print(f"{expression:<16}{zone:<16}{mine:>12,.0f}{other:>12,.0f}{mine / other:>8.1f}")
