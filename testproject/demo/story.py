"""The story: two workers share the jobs, one is killed in the middle of a run, the other one finishes it."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable
from typing import TypeVar

from django_leasejobs import trigger
from django_leasejobs.models import Lease, Run, RunStatus, Worker
from testproject.ports import LOOPBACK

from . import facts
from .ledger import Ledger, Verdict
from .options import DemoError
from .processes import Children
from .screens import Screen
from .setting_up import enable_jobs

IMPORT = "shop.import_catalogue"
SECONDS_PER_ROW = 0.2
ROWS_BEFORE_THE_KILL = 12
RUNS_BEFORE_THE_KILL = 6
POLL = 0.2
PATIENCE = 60.0
WORKERS = ("worker-1", "worker-2")
T = TypeVar("T")


class Story:
    def __init__(self, screen: Screen, children: Children, port: int) -> None:
        self._screen = screen
        self._children = children
        self._port = port

    def tell(self) -> tuple[Verdict, float]:
        """Tell all of it; return the verdict, and how many seconds after the kill the other worker took over.

        Raise DemoError when something does not happen in time, or the other worker does not finish the killed run.
        """
        ledger = Ledger()
        ledger.enter()
        self._start()
        enable_jobs(ledger)
        self._wait(self._has_everyday_work, "the first runs")
        recovered_after = self._kill_and_recover()
        until = facts.now()
        self._wait(lambda: ledger.is_settled(until), "the runs that are due")
        return ledger.verdict(until), recovered_after

    def go_on(self) -> None:
        """Start a worker in the place of the killed one and show what happens, until an interrupt."""
        self._children.start_worker("worker-3")
        self._screen.tell("worker-3 starts in its place. All goes on until Ctrl-C.")
        while True:
            self._step()

    def _start(self) -> None:
        for name in WORKERS:
            self._children.start_worker(name)
        self._children.start("site", "runserver", "--noreload", "--insecure", f"{LOOPBACK}:{self._port}")
        self._screen.tell("Two workers and the site start.")
        self._wait(lambda: Worker.objects.count() == len(WORKERS), "both workers")
        self._wait(self._site_answers, "the site")
        self._screen.tell("They are there, and share what is due.")

    def _kill_and_recover(self) -> float:
        run = trigger(IMPORT, kwargs={"seconds_per_row": SECONDS_PER_ROW}, triggered_by="the demo")
        self._screen.tell(f"Somebody triggers {IMPORT}, which takes a while.")
        lease = self._wait(lambda: _lease_after_rows(run, ROWS_BEFORE_THE_KILL), "the import's first rows")
        holder = lease.run.worker_name
        child = self._children.get(holder)
        child.kill()
        killed_at = facts.now()
        self._screen.dead.add(holder)
        self._screen.tell(f"kill -9 {child.pid}: {holder} is gone, and nobody renews its leases.")
        later = Lease.objects.select_related("run").filter(run=run, pk__gt=lease.pk)
        taken = self._wait(later.first, "another worker's lease")
        seconds = (taken.claimed_at - killed_at).total_seconds()
        self._screen.tell(f"Its lease expired: {taken.run.worker_name} took over {seconds:.1f} s after the kill.")
        self._wait(lambda: Run.objects.exclude(finished_at=None).filter(pk=run.pk).exists(), "the import's end")
        self._tell_recovery(run, holder)
        return seconds

    def _tell_recovery(self, run: Run, holder: str) -> None:
        run.refresh_from_db()
        if run.status != RunStatus.SUCCESSFUL or run.worker_name == holder:
            raise DemoError(f"The import was not finished by the other worker: {run.status}. {run.error}")
        assert run.result is not None
        row = run.result["resumed_after"]
        self._screen.tell(f"{run.worker_name} went on after row {row} and finished the import.")

    def _has_everyday_work(self) -> bool:
        return Run.objects.filter(status=RunStatus.SUCCESSFUL).count() >= RUNS_BEFORE_THE_KILL

    def _site_answers(self) -> bool:
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=5)
        try:
            connection.request("GET", "/admin/login/")
            return connection.getresponse().status == http.HTTPStatus.OK
        except OSError:
            return False
        finally:
            connection.close()

    def _wait(self, condition: Callable[[], T | None], what: str) -> T:
        """Refresh the screen until the condition is truthy; return its value."""
        deadline = time.monotonic() + PATIENCE
        while not (value := condition()):
            if time.monotonic() > deadline:
                raise DemoError(f"{what}: not within {PATIENCE:g} s.")
            self._step()
        return value

    def _step(self) -> None:
        for child in self._children.unexpectedly_ended():
            raise DemoError(f"{child.name} ended by itself. Its last words:\n{child.last_words()}")
        self._screen.refresh()
        time.sleep(POLL)


def _lease_after_rows(run: Run, rows: int) -> Lease | None:
    """Return the run's lease once so many rows are stored."""
    lease = Lease.objects.select_related("run").filter(run=run).first()
    done = lease is not None and lease.run.state is not None and lease.run.state["rows"] >= rows
    return lease if done else None
