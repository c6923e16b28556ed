from __future__ import annotations

import pytest

from django_leasejobs.worker.child_settings import ChildSettings
from django_leasejobs.worker.pools import nursery
from django_leasejobs.worker.pools.base import PoolEvents
from django_leasejobs.worker.pools.process import ProcessPool

from .support import LIMITS


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
