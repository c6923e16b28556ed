"""Engines broken on purpose, each in a way that somebody has built: the simulation must catch every one."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import patch

from django.db.models import F

from django_leasejobs.clock import DatabaseNow, database_now
from django_leasejobs.engine import claim, cursor, reclaim, settle
from django_leasejobs.engine.outcomes import Succeeded
from django_leasejobs.models import Job, Lease, Run, RunStatus
from tests.simulation.world import VirtualWorker, World

HOUR = 3600
LONG_AGO = timedelta(seconds=3)


class FinishWithoutToken(World):
    """A late result is written by the run's id, whoever holds the lease by now."""

    def finish(self, worker: VirtualWorker, killed: int | None, *, answered: bool) -> None:
        for report in worker.inbox:
            if isinstance(report.ending, Succeeded):
                Lease.objects.filter(run_id=report.run.run_id).delete()
                ended = Run.objects.filter(pk=report.run.run_id)
                ended.update(status=RunStatus.SUCCESSFUL, finished_at=DatabaseNow())
                self.successes[report.run.run_id] = self.successes.get(report.run.run_id, 0) + 1
        worker.book.drop(report.run.token for report in worker.inbox)
        worker.inbox.clear()


class FencedByAttempt(World):
    """The attempt's number is the fence; a release and a retry by hand give the same number again."""

    def finish(self, worker: VirtualWorker, killed: int | None, *, answered: bool) -> None:
        for report in list(worker.inbox):
            run = Run.objects.filter(pk=report.run.run_id, status=RunStatus.RUNNING).first()
            if run is not None and run.attempt == report.run.attempt and run.token != report.run.token:
                Lease.objects.filter(run=run).delete()
                Run.objects.filter(pk=run.pk).update(status=RunStatus.SUCCESSFUL, finished_at=DatabaseNow())
        super().finish(worker, killed, answered=answered)


class FinishInTwoTransactions(World):
    """The lease goes in one transaction and the run ends in the next: a death in between leaves neither."""

    def finish(self, worker: VirtualWorker, killed: int | None, *, answered: bool) -> None:
        if killed is not None:
            Lease.objects.filter(pk__in=[report.run.token for report in worker.inbox]).delete()
            worker.forget()
            return
        super().finish(worker, killed, answered=answered)


class RenewByWorker(World):
    """A heartbeat renews whatever bears the worker's name, also what its former life left behind."""

    def renew(self, worker: VirtualWorker, delay: float, *, answered: bool) -> None:
        Lease.objects.filter(run__worker_name=worker.name).update(expires_at=DatabaseNow() + F("duration"))
        super().renew(worker, delay, answered=answered)


class ReclaimByAge(World):
    """What was claimed long ago is taken for dead, however often it was renewed."""

    def reclaim(self, worker: VirtualWorker, killed: int | None) -> None:
        old = Lease.objects.filter(claimed_at__lt=DatabaseNow() - LONG_AGO)
        old.update(expires_at=DatabaseNow() - LONG_AGO)
        super().reclaim(worker, killed)


class ReclaimByTheWorkersClock(World):
    """Expiry is judged by a worker's own clock, which is an hour ahead."""

    def reclaim(self, worker: VirtualWorker, killed: int | None) -> None:
        self.clock.advance(HOUR)
        super().reclaim(worker, killed)
        self.clock.advance(-HOUR)


class ReclaimLeavesTheLease(World):
    """The run is READY again, and the old lease still there."""

    def reclaim(self, worker: VirtualWorker, killed: int | None) -> None:
        expired = Lease.objects.filter(expires_at__lt=DatabaseNow()).values("run_id")
        Run.objects.filter(pk__in=list(expired.values_list("run_id", flat=True))).update(status=RunStatus.READY)


class ReclaimCountsNothing(World):
    """A lost lease is not counted, so a run that kills its worker is taken up for ever."""

    def reclaim(self, worker: VirtualWorker, killed: int | None) -> None:
        def uncounted(using, settlements, now):  # type: ignore[no-untyped-def]
            settle.settle(using, settlements, now)
            for item in settlements:
                Run.objects.filter(pk=item.run_id).update(
                    lost=0, status=RunStatus.READY, finished_at=None, available_at=database_now("default")
                )

        with patch.object(reclaim, "settle", uncounted):
            super().reclaim(worker, killed)


class CursorInItsOwnTransaction(World):
    """The cursor is moved first and the rows are written in a second transaction, which may never come."""

    def plan(self, worker: VirtualWorker, killed: int | None) -> None:
        before = set(Run.objects.values_list("pk", flat=True))
        super().plan(worker, None)
        if killed is not None:
            Run.objects.exclude(pk__in=before).delete()
            worker.forget()


class PlanFromNow(World):
    """The next instant is counted from the time of planning, so what was due meanwhile is forgotten."""

    def plan(self, worker: VirtualWorker, killed: int | None) -> None:
        for job in Job.objects.filter(next_run_at__lte=DatabaseNow()):
            last = cursor.schedule_of(job).instants(job.next_run_at, self.clock.now, 10_000)
            if last:
                Job.objects.filter(pk=job.pk).update(next_run_at=last[-1])
        super().plan(worker, killed)


class ExclusiveForgotten(World):
    """A claim takes no notice of the lease that another run of the job has."""

    def claim(self, worker: VirtualWorker, limit: int, delay: float, killed: int | None, *, answered: bool) -> None:
        take_leases = claim._take_leases

        def take_unmarked(using, rows, worker_id, now):  # type: ignore[no-untyped-def]
            return take_leases(using, [{**row, "exclusive": False} for row in rows], worker_id, now)

        with (
            patch.object(claim, "_one_for_each_exclusive_job", lambda using, rows: list(rows)),
            patch.object(claim, "_take_leases", take_unmarked),
        ):
            super().claim(worker, limit, delay, killed, answered=answered)


class TrustFromTheAnswer(World):
    """Trust is reckoned from when the answer came, not from when the statement was sent."""

    def _trusts_from(self, started: float) -> float:
        return self.clock.seconds


class NoSelfRestraint(World):
    """A worker goes on until a renewal tells it that the lease is gone."""

    def watch(self, worker: VirtualWorker) -> None:
        pass

    def _trusted(self, worker: VirtualWorker, run: claim.Claimed) -> bool:
        return run.token in worker.book.tokens()


MUTANTS: list[type[World]] = [
    FinishWithoutToken,
    FencedByAttempt,
    FinishInTwoTransactions,
    RenewByWorker,
    ReclaimByAge,
    ReclaimByTheWorkersClock,
    ReclaimLeavesTheLease,
    ReclaimCountsNothing,
    CursorInItsOwnTransaction,
    PlanFromNow,
    ExclusiveForgotten,
    TrustFromTheAnswer,
    NoSelfRestraint,
]
