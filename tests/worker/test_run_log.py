from __future__ import annotations

import logging
import threading

import pytest

from django_leasejobs.worker.run_log import RunLog, RunLogHandler, install_run_log, storable_text


@pytest.fixture
def root():
    """The root logger, put back as it was."""
    logger = logging.getLogger()
    level, handlers = logger.level, list(logger.handlers)
    filters = [(handler, list(handler.filters)) for handler in handlers]
    yield logger
    logger.setLevel(level)
    logger.handlers[:] = handlers
    for handler, kept in filters:
        handler.filters[:] = kept


def test_a_short_log_is_kept_whole():
    log = RunLog(1000)
    for number in range(5):
        log.add(f"line {number}")
    assert log.text() == "line 0\nline 1\nline 2\nline 3\nline 4"


def test_a_long_log_keeps_its_head_and_its_tail_and_counts_what_fell_out():
    log = RunLog(400)
    for number in range(1000):
        log.add(f"line {number}")
    lines = log.text().splitlines()
    assert lines[0] == "line 0"
    assert lines[-1] == "line 999"
    (gap,) = [line for line in lines if line.startswith("...")]
    assert int(gap.split()[1]) == 1000 - (len(lines) - 1)
    assert len(log.text().encode()) <= 400 + len(gap)


@pytest.mark.parametrize("limit", [0, 1, 10])
def test_a_tiny_limit_holds_nothing_and_breaks_nothing(limit):
    log = RunLog(limit)
    log.add("é" * 1000)
    log.add("more")
    assert len(log.text().encode()) <= limit + 40


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("plain", "plain"),
        ("a\x00b", "a\\x00b"),
        ("\ud800", "\\ud800"),
        ("x" * 30, "... " + "x" * 16),
        ("é" * 30, "... " + "é" * 8),
        ("a" + "é" * 30, "... " + "é" * 8),
    ],
)
def test_text_is_made_fit_for_every_database(text, stored):
    assert storable_text(text, 20) == stored
    assert len(storable_text(text, 20).encode()) <= 20


def test_only_the_records_of_the_runs_own_context_reach_its_log(root):
    install_run_log()
    log, other = RunLog(1000), RunLog(1000)
    with log:
        logging.getLogger("some.library").info("inside")
        with other:
            logging.getLogger("some.library").info("of another run")
        stranger = threading.Thread(target=logging.getLogger("some.library").info, args=("elsewhere",))
        stranger.start()
        stranger.join()
    logging.getLogger("some.library").info("afterwards")
    assert log.text().endswith(" INFO some.library: inside")
    assert "\n" not in log.text()
    assert other.text().endswith("of another run")


def test_other_handlers_print_what_they_printed_before(root):
    printed = []

    class Printer(logging.Handler):
        def emit(self, record):
            printed.append(record.getMessage())

    root.handlers[:] = [Printer()]
    root.setLevel(logging.WARNING)
    chatty = logging.getLogger("tests.chatty")
    chatty.setLevel(logging.DEBUG)
    try:
        install_run_log()
        install_run_log()
        with RunLog(1000) as log:
            logging.getLogger("tests.quiet").info("not printed")
            logging.getLogger("tests.quiet").warning("printed")
            chatty.debug("printed by its own level")
    finally:
        chatty.setLevel(logging.NOTSET)
    assert printed == ["printed", "printed by its own level"]
    assert "not printed" in log.text()
    assert sum(isinstance(handler, RunLogHandler) for handler in root.handlers) == 1


def test_a_record_that_cannot_be_formatted_stops_nothing(root, monkeypatch):
    monkeypatch.setattr(logging, "raiseExceptions", False)
    install_run_log()
    with RunLog(1000) as log:
        logging.getLogger("some.library").info("%d", "no number")
        logging.getLogger("some.library").info("next")
    assert log.text().endswith("next")
