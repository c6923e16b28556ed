from __future__ import annotations

import re
import threading

import pytest
from django.db import OperationalError, connection

from django_leasejobs.worker import loop as loop_module
from django_leasejobs.worker.loop import Loop
from tests.support.processes import wait_until

LONG = 3600.0


@pytest.fixture
def run_loop():
    loops = []

    def start(step, name="tested"):
        loop = Loop(name, step)
        loops.append(loop)
        loop.start()
        return loop

    yield start
    for loop in loops:
        loop.stop()
        assert loop.join(5)


def test_a_wake_cuts_a_wait_short_and_a_stop_ends_the_loop(run_loop):
    steps = []
    loop = run_loop(lambda: steps.append(1) or LONG)
    wait_until(lambda: len(steps) == 1)
    loop.wake()
    wait_until(lambda: len(steps) == 2)
    loop.stop()
    assert loop.join(5)
    assert len(steps) == 2


@pytest.mark.django_db(transaction=True)
def test_statements_kept_for_debugging_are_forgotten_from_step_to_step(run_loop, settings):
    settings.DEBUG = True
    kept = []

    def step():
        kept.append(len(connection.queries))
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return 0.0

    loop = run_loop(step)
    wait_until(lambda: len(kept) > 3)
    loop.stop()
    assert set(kept) == {0}


def test_a_wake_during_a_step_is_not_lost(run_loop):
    steps, entered, go_on = [], threading.Event(), threading.Event()

    def step():
        steps.append(1)
        entered.set()
        go_on.wait(5)
        return LONG

    loop = run_loop(step)
    assert entered.wait(5)
    loop.wake()
    go_on.set()
    wait_until(lambda: len(steps) == 2)


def test_a_database_fault_is_one_line_and_the_waits_grow_to_a_bound(run_loop, caplog, monkeypatch):
    monkeypatch.setattr(loop_module, "FIRST_BACKOFF", 0.001)
    monkeypatch.setattr(loop_module, "LONGEST_BACKOFF", 0.02)

    def step():
        raise OperationalError("the server went away")

    run_loop(step)
    wait_until(lambda: len(caplog.records) > 10)
    records = [record for record in caplog.records if "database fault" in record.message]
    assert len(records) > 10
    assert all(record.levelname == "WARNING" and record.exc_info is None for record in records)
    waits = [record.args[1] for record in records]
    assert max(waits) <= 0.02
    assert waits[0] <= 0.002
    assert min(waits[5:]) >= 0.01


def test_a_fault_of_many_lines_is_one_line_and_the_database_is_told_to_be_back_once(run_loop, caplog, monkeypatch):
    monkeypatch.setattr(loop_module, "FIRST_BACKOFF", 0.001)
    caplog.set_level("INFO", "django_leasejobs")
    steps = []

    def step():
        steps.append(1)
        if len(steps) <= 2:
            raise OperationalError("connection failed\n\tIs the server running there?\n")
        return 0 if len(steps) < 5 else LONG

    run_loop(step, "look")
    wait_until(lambda: len(steps) == 5)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 3
    assert all(line.endswith(" s: connection failed Is the server running there?") for line in lines[:2])
    assert re.fullmatch(r"Loop look has the database back after \d+\.\d s", lines[2])
    assert caplog.records[2].levelname == "INFO"


def test_a_defect_is_logged_whole_and_the_loop_lives_on(run_loop, caplog, monkeypatch):
    monkeypatch.setattr(loop_module, "LONGEST_BACKOFF", 0.01)
    steps = []

    def step():
        steps.append(1)
        if len(steps) == 1:
            raise KeyError("a defect")
        return LONG

    run_loop(step)
    wait_until(lambda: len(steps) == 2)
    (record,) = [record for record in caplog.records if "defect" in record.message]
    assert (record.levelname, record.exc_info[0]) == ("ERROR", KeyError)


def test_a_step_that_hangs_shows_how_long_it_has(run_loop):
    entered, go_on = threading.Event(), threading.Event()
    loop = run_loop(lambda: entered.set() or go_on.wait(5) or LONG)
    assert entered.wait(5)
    wait_until(lambda: loop.busy_for > 0.05)
    go_on.set()
    wait_until(lambda: loop.busy_for == 0)
