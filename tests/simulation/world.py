"""A few virtual workers and jobs over the real engine functions, and what must hold after each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

from django_leasejobs.engine import cancel, claim, finish, plan, reclaim, renew, retry, trigger
from django_leasejobs.engine.claim import Claimed
from django_leasejobs.engine.finish import Report
from django_leasejobs.engine.outcomes import Ending, Stopped, Succeeded
from django_leasejobs.engine.settle import Settlement
from django_leasejobs.engine.trigger import Order
from django_leasejobs.models import Job, Lease, Outcome, Run, RunStatus
from django_leasejobs.worker.book import LeaseBook
from tests.simulation.clock import START, VirtualClock
from tests.simulation.faults import survives

T = TypeVar("T")

TASK = "tests.simulated"
LEASE = timedelta(seconds=6)
EVERY = timedelta(seconds=10)
MAX_LOST = (0, 2)
RETRIES = 1
NEXT = {
    "READY": {"RUNNING", "CANCELLED", "MISSED"},
    "RUNNING": {"READY", "SUCCESSFUL", "FAILED", "CANCELLED"},
    "FAILED": {"READY"},
    "CANCELLED": {"READY"},
    "SUCCESSFUL": set(),
    "MISSED": set(),
    "SKIPPED": set(),
}


@dataclass(eq=False)
class VirtualWorker:
    """What a worker process remembers. ``doing`` are the runs whose code is under way."""

    name: str
    book: LeaseBook = field(default_factory=LeaseBook)
    doing: dict[int, Claimed] = field(default_factory=dict)
    inbox: list[Report] = field(default_factory=list)

    def forget(self) -> None:
        """Die: nothing is remembered."""
        self.book, self.doing, self.inbox = LeaseBook(), {}, []


class World:
    """The state of the simulation, with one method for each thing that can happen."""

    def __init__(self, overlaps: Sequence[str], catch_ups: Sequence[str]) -> None:
        self.clock = VirtualClock()
        self.rng = Random(1)
        self.workers = [VirtualWorker(f"w{number}") for number in range(3)]
        self.released: set[int] = set()
        self.successes: dict[int, int] = {}
        self.losses: dict[int, int] = {}
        self.seen: dict[int, tuple[str, int | None]] = {}
        self.top_token = 0
        self.jobs = [
            Job.objects.create(
                name=f"job-{number}",
                task=TASK,
                schedule=f"@every {EVERY.seconds}s",
                next_run_at=START + EVERY,
                lease=LEASE,
                overlap=overlap,
                catch_up=catch_up,
                max_lost=MAX_LOST[number],
                retries=RETRIES,
                backoff=timedelta(seconds=1),
            )
            for number, (overlap, catch_up) in enumerate(zip(overlaps, catch_ups, strict=True))
        ]

    # What can happen

    def plan(self, worker: VirtualWorker, killed: int | None) -> None:
        self._lives(worker, killed, plan.plan_jobs)

    def claim(self, worker: VirtualWorker, limit: int, delay: float, killed: int | None, *, answered: bool) -> None:
        """Claim; ``delay`` passes on the way there and on the way back."""
        started = self.clock.seconds
        self.clock.advance(delay)
        claims = self._lives(
            worker,
            killed,
            lambda: claim.claim_runs(worker_id=None, worker_name=worker.name, queues=(), tasks=[TASK], limit=limit),
        )
        self.clock.advance(delay)
        if claims is not None and answered:
            worker.book.add(claims.runs, self._trusts_from(started))
            worker.doing.update((run.token, run) for run in claims.runs)

    def renew(self, worker: VirtualWorker, delay: float, *, answered: bool) -> None:
        started = self.clock.seconds
        self.clock.advance(delay)
        renewed = renew.renew_leases(worker.book.tokens(), timeout=5)
        self.clock.advance(delay)
        if not answered:
            return
        worker.book.renewed(renewed.held, self._trusts_from(started))
        for run in worker.book.drop_lost(renewed.lost):
            worker.doing.pop(run.token, None)
        for token in renewed.cancelled:
            if (run := worker.doing.pop(token, None)) is not None:
                worker.inbox.append(Report(run=run, ending=Stopped("a person")))

    def watch(self, worker: VirtualWorker) -> None:
        """Stop what is trusted no more, as a worker does before anything else."""
        for run in worker.book.drop_distrusted(self.clock.seconds):
            worker.doing.pop(run.token, None)

    def end(self, worker: VirtualWorker, number: int, ending: Ending) -> None:
        """Let the code of one run end; its report waits to be written."""
        if worker.doing:
            token = sorted(worker.doing)[number % len(worker.doing)]
            worker.inbox.append(Report(run=worker.doing.pop(token), ending=ending))

    def finish(self, worker: VirtualWorker, killed: int | None, *, answered: bool) -> None:
        """Write the waiting reports; without an answer they are written again later."""
        reports = list(worker.inbox)
        worker.book.finishing(report.run.token for report in reports)
        finished = self._lives(
            worker, killed, lambda: finish.finish_runs(reports, worker_name=worker.name, rng=self.rng)
        )
        if finished is None:
            return
        for item in finished.recorded:
            if item.verdict.status == RunStatus.SUCCESSFUL:
                self.successes[item.run_id] = self.successes.get(item.run_id, 0) + 1
        self._count_losses(finished.recorded)
        if answered:
            worker.inbox.clear()
            worker.book.drop(report.run.token for report in reports)

    def reclaim(self, worker: VirtualWorker, killed: int | None) -> None:
        reclaimed = self._lives(worker, killed, lambda: reclaim.reclaim_leases(rng=self.rng))
        if reclaimed is not None:
            self._count_losses(reclaimed.settlements)

    def trigger(self, number: int) -> None:
        trigger.trigger_job(self.jobs[number % len(self.jobs)].name, Order())

    def cancel(self, number: int) -> None:
        if run_ids := list(Run.objects.order_by("pk").values_list("pk", flat=True)):
            cancel.cancel_run(run_ids[number % len(run_ids)], reason="a person")

    def release(self, number: int) -> None:
        """A person decides that a worker is gone, rightly or not."""
        if tokens := list(Lease.objects.order_by("pk").values_list("pk", flat=True)):
            token = tokens[number % len(tokens)]
            if reclaim.release_lease(token, reason="a person", rng=self.rng).settlements:
                self.released.add(token)

    def retry(self, number: int) -> None:
        if run_ids := list(Run.objects.filter(status=RunStatus.FAILED).order_by("pk").values_list("pk", flat=True)):
            run_id = run_ids[number % len(run_ids)]
            retry.retry_run(run_id, reason="a person")
            self.losses.pop(run_id, None)

    def _count_losses(self, settlements: Iterable[Settlement]) -> None:
        for item in settlements:
            if item.verdict.outcome == Outcome.LOST:
                self.losses[item.run_id] = self.losses.get(item.run_id, 0) + 1

    def _lives(self, worker: VirtualWorker, killed: int | None, act: Callable[[], T]) -> T | None:
        lived, value = survives(killed, act)
        if not lived:
            worker.forget()
        return value

    def _trusts_from(self, started: float) -> float:
        """The moment from which a worker reckons its trust; a broken variant may differ."""
        return started

    # What must hold

    def check(self) -> None:
        self.check_transitions()
        self.check_leases()
        self.check_trust()
        self.check_instants()
        self.check_bounds()

    def check_transitions(self) -> None:
        """I4: a run changes only as in the picture of its life, and what holds it changes only through READY."""
        before, self.seen = self.seen, {}
        for run_id, status, token in Run.objects.values_list("pk", "status", "token"):
            self.seen[run_id] = (status, token)
            was, held = before.get(run_id, (status, token))
            if status != was:
                assert status in NEXT[was], f"I4: a run went from {was} to {status}"
            elif status == RunStatus.RUNNING:
                assert token == held, "I4: a running run changed hands"

    def check_leases(self) -> None:
        """I1 and I4: a lease for each running run and no other, one for an exclusive job, tokens that only grow."""
        leases = list(Lease.objects.values("id", "run_id", "exclusive_job_id", "run__job_id", "run__exclusive"))
        running = set(Run.objects.filter(status=RunStatus.RUNNING).values_list("pk", flat=True))
        assert sorted(lease["run_id"] for lease in leases) == sorted(running), "I1: lease and RUNNING don't agree"
        exclusive = [lease["run__job_id"] for lease in leases if lease["run__exclusive"]]
        assert len(exclusive) == len(set(exclusive)), "I1: two leases of an exclusive job"
        tokens = [lease["id"] for lease in leases]
        for run in Run.objects.filter(token__isnull=False).values("pk", "token"):
            tokens.append(run["token"])
        top = max(tokens, default=0)
        assert top >= self.top_token or not tokens, "I4: a token was handed out twice"
        self.top_token = max(top, self.top_token)

    def check_trust(self) -> None:
        """I5: whoever still trusts a lease has it, so no two workers ever work on one run."""
        standing = set(Lease.objects.values_list("pk", flat=True))
        workers_of: dict[int, list[str]] = {}
        for worker in self.workers:
            for run in worker.doing.values():
                if not self._trusted(worker, run):
                    continue
                if run.token not in self.released:
                    assert run.token in standing, "I5: a trusted lease was taken"
                    workers_of.setdefault(run.run_id, []).append(worker.name)
        assert all(len(names) == 1 for names in workers_of.values()), "I5: two workers at one run"

    def _trusted(self, worker: VirtualWorker, run: Claimed) -> bool:
        held = worker.book._held.get(run.token)
        return held is not None and self.clock.seconds < held.trusted_until

    def check_instants(self) -> None:
        """I2: each instant up to the cursor is in exactly one row."""
        for job in Job.objects.all():
            assert job.next_run_at is not None, "I2: the schedule stopped"
            recorded: list[datetime] = []
            rows = Run.objects.filter(job=job, scheduled_for__isnull=False)
            for first, last, count in rows.values_list("scheduled_for", "scheduled_until", "instants"):
                instants = list(_grid(first, last or first))
                assert len(instants) == count, "I2: a row's count is wrong"
                recorded += instants
            expected = list(_grid(START + EVERY, job.next_run_at - timedelta(microseconds=1)))
            assert sorted(recorded) == expected, "I2: instants lost or doubled"

    def check_bounds(self) -> None:
        """I7, and one success for a run."""
        allowed = dict(Run.objects.filter(pk__in=self.losses).values_list("pk", "max_lost"))
        assert all(count <= allowed[pk] + 1 for pk, count in self.losses.items()), "I7: taken up too often"
        assert not Run.objects.filter(failures__gt=RETRIES + 1).exists(), "I7: retried too often"
        assert max(self.successes.values(), default=0) <= 1, "I4: a run succeeded twice"

    def settle(self) -> None:
        """I3: with every worker but one dead, that one brings all to an end."""
        for worker in self.workers:
            worker.forget()
        last = self.workers[0]
        for _ in range(200):
            for act in (
                lambda: self.watch(last),
                lambda: self.renew(last, 0, answered=True),
                lambda: self.plan(last, None),
                lambda: self.reclaim(last, None),
                lambda: self.claim(last, 10, 0, None, answered=True),
                lambda: [self.end(last, 0, Succeeded()) for _ in list(last.doing)],
                lambda: self.finish(last, None, answered=True),
            ):
                act()
                self.check()
            waiting = Run.objects.filter(status__in=(RunStatus.READY, RunStatus.RUNNING))
            if not waiting.exists():
                return
            self.clock.advance(1)
        raise AssertionError(f"I3: never healed: {list(waiting.values('pk', 'status', 'available_at', 'lost'))}")


def _grid(first: datetime, last: datetime) -> Iterator[datetime]:
    instant = first
    while instant <= last:
        yield instant
        instant += EVERY
