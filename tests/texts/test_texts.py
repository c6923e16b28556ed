from __future__ import annotations

import logging
from typing import Any

import pytest

from django_leasejobs import narration
from django_leasejobs.texts import one_line, printable


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain Ä", "plain Ä"), ("a\nb", r"a\nb"), ("\x1b[2J", r"\x1b[2J"), ("a\u202eb", r"a\u202eb")],
)
def test_what_could_break_a_line_or_steer_a_terminal_is_escaped(text: str, expected: str) -> None:
    assert printable(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("failed\n\tis it there?\n", "failed is it there?"), ("\x1b[2J\r\nx", r"\x1b[2J x"), (OSError("a\nb"), "a b")],
)
def test_a_text_of_many_lines_fits_on_one(text: object, expected: str) -> None:
    assert one_line(text) == expected


def test_the_log_of_runs_has_a_line_for_each_record(caplog: pytest.LogCaptureFixture) -> None:
    """Who greps a log for a run must not find half of its error."""
    caplog.set_level(logging.INFO, "django_leasejobs")
    ended: dict[str, Any] = {"run_id": 1, "job_name": "a", "task": "a", "attempt": 1, "token": 1, "worker": "w"}

    narration.tell_finished(**ended, status="FAILED", retry_at=None, error="ValueError: a\nb")
    narration.tell_broken("a", "no\nsuch")

    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == ["a b", "no such"]
