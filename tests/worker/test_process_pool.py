from __future__ import annotations

import multiprocessing
import os
import socket

import pytest

from django_leasejobs.engine.outcomes import HandedBack
from django_leasejobs.worker.child_settings import ChildSettings
from django_leasejobs.worker.pools import nursery
from django_leasejobs.worker.pools.base import PoolEvents
from django_leasejobs.worker.pools.handle import Assigned, ChildHandle, bound_writes
from django_leasejobs.worker.pools.process import ProcessPool

from .support import LIMITS, claimed


def ignore(*args):
    """Hear nothing."""


@pytest.mark.parametrize("error", [EOFError("unexpected EOF"), BlockingIOError(11, "no more processes")])
def test_a_child_that_cannot_be_started_is_tried_again_after_a_pause_that_grows(monkeypatch, caplog, error):
    def cannot(context, settings):
        raise error

    monkeypatch.setattr(nursery.ChildHandle, "start", cannot)
    settings = ChildSettings(worker_name="tester", limits=LIMITS, settings_module="", environment={})
    pool = ProcessPool(
        2, settings=settings, events=PoolEvents(ended=ignore, committed=ignore, progress=ignore, room=ignore)
    )
    pool.start()
    pool.watch(0)
    assert pool.free() == 0
    assert len(caplog.records) == 1, "not tried again before the pause is over"
    for _ in range(6):
        pool._nursery.next_start = 0
        pool.watch(0)
    pauses = [record.args[-1] for record in caplog.records]
    assert pauses == [1, 2, 4, 8, 15, 15, 15]
    assert "could not be started" in caplog.text
    pool.stop("the test is over")


class Frozen:
    """A child process that reads nothing."""

    pid, exitcode, killed = 1, None, False

    def kill(self):
        self.killed = True


@pytest.mark.parametrize("project_timeout", [None, 30])
def test_a_child_that_reads_nothing_is_ended_and_its_run_handed_back_instead_of_waited_for(project_timeout):
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(project_timeout)
    ours, theirs = multiprocessing.Pipe()
    with ours, theirs:
        bound_writes(ours)
        socket.setdefaulttimeout(before)
        assert os.get_blocking(ours.fileno())
        child = ChildHandle(Frozen(), ours)
        run = claimed(args=["x" * 5_000_000])
        child.assign(Assigned(run))
        child.send_runs([run])
        assert child.process.killed
        assert child.room(1) == 0
        assert child.current.forced == HandedBack("its process took no work")
