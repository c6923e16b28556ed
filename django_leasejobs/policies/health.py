"""One judgement of health for all who ask: facts in, findings out, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django_leasejobs.durations import rough_duration

from .health_facts import Beating, Facts, LeaseFacts, WorkerFacts


class Level(StrEnum):
    """How bad a finding is: a warning wants a look, something critical is standing still."""

    WARNING = "warning"
    CRITICAL = "critical"


CODES = (
    "no-worker",
    "stuck-lease",
    "overlong-run",
    "late-job",
    "unclaimable-run",
    "late-run",
    "schedule-error",
    "failing-job",
    "paused-job",
    "dead-worker",
    "clock-offset",
)
"""All codes, the worst first among those of the same level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From when on something is told.

    ``late`` and ``very_late`` (a warning, then critical) hold for what should have happened within a poll or
    two: planning a due instant, reclaiming an expired lease, claiming a run. A worker is dead after
    ``missed_heartbeats`` heartbeats that did not come.
    """

    late: timedelta = timedelta(minutes=1)
    very_late: timedelta = timedelta(minutes=10)
    missed_heartbeats: int = 3
    many_failures: int = 3
    clock_offset: timedelta = timedelta(seconds=5)

    def level(self, lateness: timedelta) -> Level | None:
        """Return how bad this lateness is; None: not worth a word."""
        if lateness < self.late:
            return None
        return Level.CRITICAL if lateness >= self.very_late else Level.WARNING


DEFAULT_THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something wrong with ``subject``, in words for a person."""

    level: Level
    code: str
    subject: str
    words: str


def judge(facts: Facts, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> tuple[Finding, ...]:
    """Return all that is wrong, worst first: critical before warning, then by CODES, then by subject."""
    findings = [
        *_worker_findings(facts, thresholds),
        *_lease_findings(facts, thresholds),
        *_job_findings(facts, thresholds),
        *_waiting_findings(facts, thresholds),
    ]
    return tuple(sorted(findings, key=_badness))


def worst(findings: tuple[Finding, ...]) -> Level | None:
    """Return the level of the worst finding; None: healthy."""
    return findings[0].level if findings else None


def is_alive(worker: Beating, now: datetime, thresholds: Thresholds = DEFAULT_THRESHOLDS) -> bool:
    """Whether the worker's last heartbeat is recent enough."""
    return now - worker.heartbeat_at <= thresholds.missed_heartbeats * worker.heartbeat_every


def can_take(worker: WorkerFacts, *, task: str, queue: str) -> bool:
    """Whether the worker claims runs of this task from this queue."""
    return not worker.stopping and task in worker.tasks and (not worker.queues or queue in worker.queues)


def _badness(finding: Finding) -> tuple[bool, int, str, str]:
    return finding.level != Level.CRITICAL, CODES.index(finding.code), finding.subject, finding.words


def _worker_findings(facts: Facts, thresholds: Thresholds) -> Iterator[Finding]:
    alive = [worker for worker in facts.workers if is_alive(worker, facts.now, thresholds)]
    if not any(not worker.stopping for worker in alive):
        work = any(job.active for job in facts.jobs) or facts.waiting or facts.leases
        none = "All workers are stopping" if alive else "No worker is running"
        yield Finding(
            level=Level.CRITICAL if work else Level.WARNING,
            code="no-worker",
            subject="workers",
            words=f"{none}, so nothing that comes due is run." if work else f"{none}.",
        )
    for worker in facts.workers:
        if worker not in alive:
            if not _is_missed(worker, alive, facts.leases):
                continue
            silent = _words(facts.now - worker.heartbeat_at)
            words = (
                f"Worker {worker.name} is silent for {silent}; its runs move on when their leases expire."
                " Start another in its place, or delete its row in the admin if none is needed."
            )
            yield Finding(level=Level.WARNING, code="dead-worker", subject=worker.name, words=words)
        elif worker.clock_offset is not None and abs(worker.clock_offset) > thresholds.clock_offset:
            side = "ahead of" if worker.clock_offset > timedelta(0) else "behind"
            off = _words(abs(worker.clock_offset))
            words = f"The clock of worker {worker.name} is {off} {side} the database's."
            yield Finding(level=Level.WARNING, code="clock-offset", subject=worker.name, words=words)


def _is_missed(silent: WorkerFacts, alive: Sequence[WorkerFacts], leases: Iterable[LeaseFacts]) -> bool:
    """Whether a silent worker still holds a lease, or no worker that started since serves its queues."""
    if any(lease.worker_name == silent.name for lease in leases):
        return True
    since = [worker for worker in alive if worker.started_at >= silent.heartbeat_at and not worker.stopping]
    if any(not worker.queues for worker in since):
        return False
    served = {queue for worker in since for queue in worker.queues}
    return not silent.queues or not silent.queues <= served


def _lease_findings(facts: Facts, thresholds: Thresholds) -> Iterator[Finding]:
    """Judge leases. One that expired says nothing more about its run: that may have ended long ago."""
    for lease in facts.leases:
        what = f"run {lease.run_id}" + (f" of {lease.job_name}" if lease.job_name else "")
        overdue = facts.now - lease.expires_at
        if level := thresholds.level(overdue):
            ago = _words(overdue)
            words = f"The lease of {lease.worker_name} on {what} expired {ago} ago and nobody reclaimed it."
            yield Finding(level=level, code="stuck-lease", subject=str(lease.token), words=words)
        elif lease.deadline is not None and (level := thresholds.level(facts.now - lease.deadline)):
            over = _words(facts.now - lease.deadline)
            words = f"{what[0].upper()}{what[1:]} goes on {over} after its timeout: {lease.worker_name} can't end it."
            yield Finding(level=level, code="overlong-run", subject=str(lease.run_id), words=words)


def _job_findings(facts: Facts, thresholds: Thresholds) -> Iterator[Finding]:
    """Judge jobs. One that somebody paused, disabled or retired is looked after already."""
    for job in facts.jobs:
        if job.pause_reason:
            words = f"Job {job.name} paused itself: {job.pause_reason}. It goes on when somebody resumes it."
            yield Finding(level=Level.WARNING, code="paused-job", subject=job.name, words=words)
        if not job.active:
            continue
        if job.schedule_error:
            words = f"Job {job.name} is not planned: {job.schedule_error}"
            yield Finding(level=Level.CRITICAL, code="schedule-error", subject=job.name, words=words)
        elif job.next_run_at is not None:
            lateness = facts.now - job.next_run_at
            if level := thresholds.level(lateness):
                words = f"Job {job.name} was due {_words(lateness)} ago and is not planned yet."
                yield Finding(level=level, code="late-job", subject=job.name, words=words)
        if job.failures_in_row:
            level = Level.CRITICAL if job.failures_in_row >= thresholds.many_failures else Level.WARNING
            runs = "The last run" if job.failures_in_row == 1 else f"The last {job.failures_in_row} runs"
            words = f"{runs} of {job.name} failed."
            yield Finding(level=level, code="failing-job", subject=job.name, words=words)


def _waiting_findings(facts: Facts, thresholds: Thresholds) -> Iterator[Finding]:
    """Judge runs that wait. Without any worker ``no-worker`` says it all."""
    workers = [item for item in facts.workers if not item.stopping and is_alive(item, facts.now, thresholds)]
    if not workers:
        return
    for group in facts.waiting:
        waits = facts.now - group.since
        if (level := thresholds.level(waits)) is None:
            continue
        runs = f"Runs of {group.task} in queue {group.queue} ({group.count})"
        if any(can_take(worker, task=group.task, queue=group.queue) for worker in workers):
            words = f"{runs} wait for a free worker, the oldest for {_words(waits)}."
            yield Finding(level=Level.WARNING, code="late-run", subject=group.task, words=words)
        else:
            words = (
                f"{runs} wait, the oldest for {_words(waits)}, and no running worker can take them."
                " Start one whose code has the task and that serves the queue, or cancel the runs."
            )
            yield Finding(level=level, code="unclaimable-run", subject=group.task, words=words)


def _words(duration: timedelta) -> str:
    """Write how long ago something was; on its way to the database it may have become the future."""
    return rough_duration(max(duration, timedelta(0)))
