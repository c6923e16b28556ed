from __future__ import annotations

import asyncio
import datetime as dt
import logging
from datetime import timedelta
from decimal import Decimal

import pytest

from django_leasejobs.engine.outcomes import HandedBack, Raised, Stopped, Succeeded
from django_leasejobs.exceptions import Cancelled, LeaseLost
from django_leasejobs.models import Lease, Run, RunStatus
from django_leasejobs.registry import MOST_LEVELS
from django_leasejobs.worker.execute import Channel, TimedOut, execute
from django_leasejobs.worker.run_log import install_run_log
from tests.support.factories import claim, make_run, make_task
from tests.support.testjobs.models import Unique

from .support import LIMITS, claimed

pytestmark = pytest.mark.django_db(transaction=True)

SEEN = []


def take(*args, **kwargs):
    SEEN.append((args, kwargs))
    return 7


def give(value):
    return VALUES[value]


def throw(kind):
    raise ERRORS[kind]


async def wait(seconds):
    await asyncio.sleep(seconds)
    return "waited"


def write(context, then_fail=False):
    Unique.objects.create(name="written")
    if then_fail:
        raise RuntimeError("after the write")
    return "done"


class Unspeakable(Exception):
    """Fails when anybody asks what it says."""

    def __str__(self):
        raise RuntimeError("no words")

    __repr__ = __str__


class Unshown(list):
    def __repr__(self):
        raise RuntimeError("no repr")


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


VALUES = {
    "long": "x" * 2000,
    "instant": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "nan": float("nan"),
    "nul": "a\x00b",
    "deep": nested(MOST_LEVELS),
    "too deep for Python": nested(100_000),
    "unshown": Unshown([object()]),
}
ERRORS = {
    "plain": ValueError("no good"),
    "silent": ValueError(),
    "exit": SystemExit(3),
    "interrupt": KeyboardInterrupt(),
    "lost": LeaseLost("gone"),
    "cancelled": Cancelled("asked"),
    "timeout": TimedOut("took too long"),
    "huge": RuntimeError("y" * 100_000),
    "odd": RuntimeError("a\x00b\ud800"),
    "unspeakable": Unspeakable(),
}


def run_task(func, *args, progress=None, channel=None, options=None, **kwargs):
    make_task("tests.task", func, **(options or {}))
    run = claimed(task="tests.task", args=list(args), kwargs=kwargs)
    channel = channel or Channel(run, lambda token, value: None)
    return execute(run, channel, worker_name="tester", limits=LIMITS)


def test_arguments_go_in_and_the_result_comes_out():
    SEEN.clear()
    done = run_task(take, 1, two=2)
    assert (done.ending, done.committed) == (Succeeded(7), False)
    assert SEEN == [((1,), {"two": 2})]


def test_a_coroutine_is_awaited():
    assert run_task(wait, 0).ending == Succeeded("waited")


@pytest.mark.parametrize("value", VALUES)
def test_a_result_that_cannot_be_kept_is_dropped_with_a_line_that_says_so(value):
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    install_run_log()
    try:
        done = run_task(give, value)
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    assert done.ending == Succeeded(None)
    assert "the result is not kept" in done.log


def test_a_result_with_as_many_levels_as_every_database_takes_is_kept():
    VALUES["just so deep"] = nested(MOST_LEVELS - 1)
    done = run_task(give, "just so deep")
    assert done.ending == Succeeded(nested(MOST_LEVELS - 1))
    run = make_run(result=done.ending.result)
    assert Run.objects.get(pk=run.pk).result == nested(MOST_LEVELS - 1)


def test_a_result_of_a_class_that_only_the_job_knows_is_kept_as_plain_json():
    class Local(dict):
        """Can't be pickled."""

    def give_local():
        return Local(a=(1, 2))

    result = run_task(give_local).ending.result
    assert (type(result), result) == (dict, {"a": [1, 2]})


@pytest.mark.parametrize("done", [float("nan"), float("inf"), Decimal(1), object()])
def test_a_progress_that_no_database_takes_fails_its_job_and_reaches_nobody_else(done):
    told = []

    def report(context):
        context.progress(done)

    make_task("tests.task", report, takes_context=True)
    run = claimed(task="tests.task")
    channel = Channel(run, lambda *progress: told.append(progress))
    ending = execute(run, channel, worker_name="tester", limits=LIMITS).ending
    assert f"The progress of run {run.run_id} can't be stored as JSON" in ending.error
    assert told == []


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("plain", "ValueError: no good"),
        ("silent", "ValueError"),
        ("exit", "SystemExit: 3"),
        ("interrupt", "KeyboardInterrupt"),
        ("lost", "gone"),
        ("odd", "RuntimeError: a\\x00b\\ud800"),
        ("unspeakable", "Unspeakable: (no words: its __str__ raised RuntimeError)"),
    ],
)
def test_whatever_a_job_raises_ends_the_attempt_only(kind, error):
    ending = run_task(throw, kind).ending
    assert isinstance(ending, Raised)
    assert (ending.error, ending.timed_out) == (error, False)


def test_a_timeout_and_a_cancel_are_told_apart_from_failures():
    assert run_task(throw, "timeout").ending.timed_out is True
    assert run_task(throw, "cancelled").ending == Stopped("asked")


def test_error_and_traceback_are_bounded_and_keep_their_ends():
    ending = run_task(throw, "huge").ending
    assert len(ending.error.encode()) <= 2000
    assert len(ending.traceback.encode()) <= LIMITS.log
    assert ending.traceback.rstrip().endswith("yyy")


def test_a_task_that_this_code_does_not_know_is_handed_back():
    run = claimed(task="tests.unheard_of")
    done = execute(run, Channel(run, lambda token, value: None), worker_name="tester", limits=LIMITS)
    assert isinstance(done.ending, HandedBack)
    assert "tests.unheard_of" in done.ending.reason


def test_a_context_knows_its_run():
    contexts = []

    def look(context):
        contexts.append(context)

    make_task("tests.task", look, takes_context=True)
    run = claimed(
        task="tests.task", job_name="nightly", failures=1, lost=1, timeout=timedelta(minutes=5), state={"n": 1}
    )
    heard = []
    channel = Channel(run, lambda token, value: heard.append((token, value)))
    execute(run, channel, worker_name="anna", limits=LIMITS)
    (context,) = contexts
    assert (context.run_id, context.token, context.job_name) == (run.run_id, run.token, "nightly")
    assert (context.attempt, context.worker, context.state) == (3, "anna", {"n": 1})
    assert timedelta(minutes=4) < context.deadline - dt.datetime.now(dt.UTC) <= timedelta(minutes=5)
    context.progress(1, 3, "a\x00b")
    assert heard == [(run.token, {"done": 1, "total": 3, "message": "a\\x00b"})]
    context.check()
    channel.cancelled = True
    with pytest.raises(Cancelled):
        context.check()
    channel.lease_lost = True
    with pytest.raises(LeaseLost):
        context.check()


def claim_atomic(**kwargs):
    make_task("tests.atomic", write, takes_context=True, atomic=True)
    make_run(task="tests.atomic", kwargs=kwargs)
    (run,) = claim(tasks=["tests.atomic"]).runs
    return run, execute(run, Channel(run, lambda token, value: None), worker_name="tester", limits=LIMITS)


def test_an_atomic_job_commits_its_writes_with_its_success():
    run, done = claim_atomic()
    assert done.committed
    row = Run.objects.get(pk=run.run_id)
    assert (row.status, row.result, Unique.objects.count()) == (RunStatus.SUCCESSFUL, "done", 1)
    assert not Lease.objects.exists()


def test_an_atomic_job_that_fails_leaves_nothing():
    run, done = claim_atomic(then_fail=True)
    assert isinstance(done.ending, Raised)
    assert not done.committed
    assert (Run.objects.get(pk=run.run_id).status, Unique.objects.count()) == (RunStatus.RUNNING, 0)


def test_an_atomic_job_whose_lease_is_gone_does_not_begin():
    make_task("tests.atomic", write, takes_context=True, atomic=True)
    make_run(task="tests.atomic")
    (run,) = claim(tasks=["tests.atomic"]).runs
    Lease.objects.all().delete()
    done = execute(run, Channel(run, lambda token, value: None), worker_name="tester", limits=LIMITS)
    assert isinstance(done.ending, Raised)
    assert "no longer holds the lease" in done.ending.error
    assert not Unique.objects.exists()


def test_standard_output_is_left_alone(capsys):
    run_task(print, "to the terminal", options={})
    assert capsys.readouterr().out == "to the terminal\n"
