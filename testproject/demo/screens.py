"""Where the demo tells its story: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod

from rich.console import Console
from rich.live import Live

from .facts import ended_after, look, now
from .tables import Told, picture


class Screen(ABC):
    """Lines of the story, and whatever it can show of the tables."""

    def __init__(self, heading: str) -> None:
        self.heading = heading
        self.dead: set[str] = set()
        self._began = time.monotonic()

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def tell(self, words: str) -> None:
        """Add a line to the story."""
        self._add(Told(time.monotonic() - self._began, words))

    @abstractmethod
    def close(self) -> None:
        """Stop drawing."""

    @abstractmethod
    def refresh(self) -> None:
        """Show the tables as they are now."""

    @abstractmethod
    def _add(self, told: Told) -> None: ...


class PlainScreen(Screen):
    """One line for each step of the story, and for each run that ended."""

    def __init__(self, heading: str) -> None:
        super().__init__(heading)
        self._seen = now()
        print(heading, flush=True)

    def close(self) -> None:
        """Lines stay as they are."""

    def refresh(self) -> None:
        for run in ended_after(self._seen):
            assert run.finished_at is not None
            self._seen = run.finished_at
            worker = f" by {run.worker_name}" if run.worker_name else ""
            print(
                f"           run {run.pk} of {run.job_name!r}: {run.status}, attempt {run.attempt}{worker}", flush=True
            )

    def _add(self, told: Told) -> None:
        print(f"[{told.seconds:6.1f} s] {told.words}", flush=True)


class LiveScreen(Screen):
    """Tables of leases, workers and runs below the story, drawn anew with each refresh."""

    def __init__(self, heading: str, console: Console) -> None:
        super().__init__(heading)
        self._console = console
        self._story: list[Told] = []
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop")

    def __enter__(self) -> Screen:
        self._live.start()
        return self

    def close(self) -> None:
        self._live.stop()

    def refresh(self) -> None:
        height = self._console.height
        self._live.update(picture(look(runs=height), self.heading, self._story, self.dead, height), refresh=True)

    def _add(self, told: Told) -> None:
        self._story.append(told)
        self.refresh()


def make_screen(heading: str) -> Screen:
    """Return a live screen if somebody can watch it."""
    console = Console()
    if sys.stdout.isatty() and console.is_terminal and not console.is_dumb_terminal:
        return LiveScreen(heading, console)
    return PlainScreen(heading)
