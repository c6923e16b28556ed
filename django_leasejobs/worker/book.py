"""Which leases this worker holds, and until when it may trust each (I5)."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django_leasejobs.engine.claim import Claimed
from django_leasejobs.policies.trust import renew_every, trusted_until

FOR_EVER = float("inf")


@dataclass(slots=True)
class Held:
    """A lease as its holder sees it; times are ticks."""

    run: Claimed
    renewed: float
    finishing: bool = False

    @property
    def lease(self) -> float:
        return self.run.lease.total_seconds()

    @property
    def trusted_until(self) -> float:
        return trusted_until(self.renewed, self.lease)

    @property
    def renew_at(self) -> float:
        return self.renewed + renew_every(self.lease)


class LeaseBook:
    """The held leases by token, shared by the worker's threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[int, Held] = {}
        # Lower bounds, so that asking costs nothing while many runs of milliseconds come and go.
        self._renew_at = FOR_EVER
        self._trusted_until = FOR_EVER

    def __len__(self) -> int:
        return len(self._held)

    def add(self, runs: Iterable[Claimed], started: float) -> None:
        """Enter claims; ``started`` is the tick just before the claim's first statement."""
        with self._lock:
            for run in runs:
                held = self._held[run.token] = Held(run, started)
                self._renew_at = min(self._renew_at, held.renew_at)
                self._trusted_until = min(self._trusted_until, held.trusted_until)

    def get(self, token: int) -> Claimed | None:
        held = self._held.get(token)
        return held.run if held is not None else None

    def tokens(self) -> list[int]:
        with self._lock:
            return list(self._held)

    def renewed(self, tokens: Collection[int], started: float) -> None:
        """Note a renewal whose statement began at ``started``."""
        with self._lock:
            for token in tokens:
                if (held := self._held.get(token)) is not None:
                    held.renewed = max(held.renewed, started)
            self._look_again()

    def finishing(self, tokens: Iterable[int]) -> None:
        """Note that these are about to be ended by this worker itself."""
        with self._lock:
            for token in tokens:
                if (held := self._held.get(token)) is not None:
                    held.finishing = True

    def drop(self, tokens: Iterable[int]) -> list[Claimed]:
        """Take tokens out; return the runs of those that were in."""
        with self._lock:
            found = [self._held.pop(token, None) for token in tokens]
        return [held.run for held in found if held is not None]

    def drop_lost(self, tokens: Iterable[int]) -> list[Claimed]:
        """Take out what a renewal didn't find, but for what this worker is ending itself at the moment."""
        with self._lock:
            lost = [token for token in tokens if token in self._held and not self._held[token].finishing]
            return [self._held.pop(token).run for token in lost]

    def drop_distrusted(self, now: float) -> list[Claimed]:
        """Take out the leases that could be taken over by now, for all that this worker knows."""
        with self._lock:
            if now < self._trusted_until:
                return []
            stale = [token for token, held in self._held.items() if held.trusted_until <= now and not held.finishing]
            dropped = [self._held.pop(token).run for token in stale]
            self._look_again()
            return dropped

    def next_renewal(self) -> float | None:
        """The tick before which no renewal is due; None when nothing is held."""
        with self._lock:
            return self._renew_at if self._held else None

    def next_distrust(self) -> float | None:
        """The tick before which every lease under work is trusted; None when there is none."""
        with self._lock:
            return self._trusted_until if self._trusted_until < FOR_EVER and self._held else None

    def _look_again(self) -> None:
        self._renew_at = min((held.renew_at for held in self._held.values()), default=FOR_EVER)
        # What is finishing has no code left to stop.
        working = (held.trusted_until for held in self._held.values() if not held.finishing)
        self._trusted_until = min(working, default=FOR_EVER)
