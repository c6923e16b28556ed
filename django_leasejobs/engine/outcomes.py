"""What became of attempts: values that the worker reports and the engine records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any, assert_never

from django_leasejobs.models import Outcome, RunStatus
from django_leasejobs.policies.retrying import GiveUp, Retry, RetryPolicy, after_failure, after_loss

NO_DELAY = timedelta(0)


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The job's function returned."""

    result: Any = None


@dataclass(frozen=True, slots=True)
class Raised:
    """The job's function raised, or its timeout ended it."""

    error: str
    traceback: str = ""
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Died:
    """The process that ran the job died under it, or its worker did."""

    reason: str


@dataclass(frozen=True, slots=True)
class HandedBack:
    """The worker gives the run back, finished or not even begun; no attempt is burned."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run was ended because somebody asked to cancel it."""

    reason: str


Ending = Succeeded | Raised | Died | HandedBack | Stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """How an attempt's run stood before the attempt ended."""

    failures: int
    lost: int
    policy: RetryPolicy

    @property
    def attempt(self) -> int:
        return self.failures + self.lost + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the run table is to say, and the outcome of the attempt's record if there is to be one."""

    status: RunStatus
    failures: int
    lost: int
    outcome: Outcome | None = None
    delay: timedelta = NO_DELAY
    result: Any = None
    reason: str = ""
    error: str = ""
    traceback: str = ""

    @property
    def plain(self) -> bool:
        """Whether it is a success with nothing to write that differs from run to run."""
        return self.status == RunStatus.SUCCESSFUL and self.result is None


def judge(ending: Ending, counters: Counters, rng: Random, *, cancel_reason: str | None = None) -> Verdict:
    """Decide what an ending means for its run. ``cancel_reason`` is not None when a cancel was asked for."""
    same = Verdict(status=RunStatus.READY, failures=counters.failures, lost=counters.lost)
    match ending:
        case Succeeded(result=result):
            return replace(same, status=RunStatus.SUCCESSFUL, result=result)
        case Stopped(reason=reason):
            return _cancelled(same, reason)
        case _ if cancel_reason is not None:
            return _cancelled(same, cancel_reason)
        case HandedBack(reason=reason):
            return replace(same, outcome=Outcome.RELEASED, reason=reason)
        case Raised(error=error, traceback=traceback, timed_out=timed_out):
            failed = replace(
                same,
                failures=counters.failures + 1,
                outcome=Outcome.TIMED_OUT if timed_out else Outcome.FAILED,
                error=error,
                traceback=traceback,
            )
            return _decided(failed, after_failure(failed.failures, counters.policy, rng), "")
        case Died(reason=reason):
            dead = replace(same, lost=counters.lost + 1, outcome=Outcome.LOST, error=reason)
            return _decided(dead, after_loss(dead.lost, counters.policy, rng), reason)
        case _:
            assert_never(ending)


def _cancelled(same: Verdict, reason: str) -> Verdict:
    return replace(same, status=RunStatus.CANCELLED, outcome=Outcome.CANCELLED, reason=reason)


def _decided(verdict: Verdict, decision: Retry | GiveUp, words: str) -> Verdict:
    match decision:
        case Retry(delay=delay):
            return replace(verdict, status=RunStatus.READY, delay=delay, reason=words)
        case GiveUp(reason=reason):
            return replace(verdict, status=RunStatus.FAILED, reason=f"{reason}: {words}" if words else reason)
        case _:
            assert_never(decision)
