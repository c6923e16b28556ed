from __future__ import annotations

import pytest
from django.db import OperationalError

from django_leasejobs.models import Worker
from django_leasejobs.worker import service
from django_leasejobs.worker.service import JobWorker

from .support import options

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker(monkeypatch):
    made = JobWorker(options(sync=False, notify=False))
    stopped = []
    monkeypatch.setattr(made._stops, "install", lambda: None)
    monkeypatch.setattr(made._pool, "start", lambda: None)
    monkeypatch.setattr(made._pool, "stop", stopped.append)
    made.stopped = stopped
    yield made
    for loop in made._loops.values():
        loop.stop()
        if loop._thread.is_alive():
            assert loop.join(5)


def test_a_defect_in_the_watch_ends_the_children_too(worker, monkeypatch):
    def defect(timeout):
        raise KeyError("a defect")

    monkeypatch.setattr(worker._pool, "watch", defect)
    with pytest.raises(KeyError):
        worker.run()
    assert worker.stopped == ["its worker met a defect"]


def test_a_database_that_goes_away_during_the_start_ends_the_worker(worker, monkeypatch):
    def gone(identity):
        raise OperationalError("gone")

    monkeypatch.setattr(service, "register_worker", gone)
    with pytest.raises(OperationalError):
        worker.run()
    assert worker.stopped


def test_a_worker_that_was_asked_to_stop_takes_its_row_away(worker):
    worker._stops.ask()
    assert worker.run() == 0
    assert not Worker.objects.exists()
    assert worker.stopped == ["its worker stopped before it ended"]
