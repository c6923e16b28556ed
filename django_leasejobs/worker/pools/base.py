"""What the worker asks of a pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.finish import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolEvents:
    """Where a pool tells what happened; called from the pool's threads, must not block.

    ``ended`` gets a run's report, ``committed`` a run whose success the job itself has recorded, ``progress`` the
    newest word of a run by token; ``room`` says that there may be more room than at the last look.
    """

    ended: Callable[[Report], None]
    committed: Callable[[Report], None]
    progress: Callable[[int, Any], None]
    room: Callable[[], None]


class Pool(Protocol):
    """Runs job code somewhere else than in the worker's own threads."""

    def start(self) -> None:
        """Make ready to take runs."""

    def free(self) -> int:
        """Return how many runs could be handed over now."""

    def busy(self) -> int:
        """Return how many runs were handed over and have not ended."""

    def submit(self, runs: Sequence[Claimed]) -> None:
        """Take runs; each ends in exactly one report or one ``committed``, unless it is abandoned."""

    def cancel(self, token: int, reason: str) -> None:
        """Tell a run's code that it should end; by force after a grace, where the pool can."""

    def abandon(self, tokens: Sequence[int]) -> None:
        """Stop runs whose leases are gone, at once; nothing of them is reported."""

    def watch(self, timeout: float) -> None:
        """Wait up to ``timeout`` seconds for something to happen and deal with it."""

    def hand_back_waiting(self) -> None:
        """Report what was taken but not begun as handed back."""

    def stop(self, reason: str) -> None:
        """End what still runs and report it as handed back; close the pool."""
