"""What a worker and its child processes say to each other over a pipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.outcomes import Ending


@dataclass(frozen=True, slots=True)
class Take:
    """To the child: do these runs, one after the other."""

    runs: tuple[Claimed, ...]


@dataclass(frozen=True, slots=True)
class Cancel:
    """To the child: somebody asked to cancel this run."""

    token: int
    reason: str


@dataclass(frozen=True, slots=True)
class GiveBack:
    """To the child: give back what has not begun."""


@dataclass(frozen=True, slots=True)
class Ready:
    """From the child: it has loaded the project and takes runs."""


@dataclass(frozen=True, slots=True)
class Ended:
    """From the child: a run's end; ``seconds`` is how long it took."""

    token: int
    ending: Ending
    log: str
    committed: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class GaveBack:
    """From the child: these had not begun."""

    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """From the child: how far a run is."""

    token: int
    value: Any
