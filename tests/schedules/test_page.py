"""What docs/schedules.md says of each text is what the package makes of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from django_leasejobs.schedules import ScheduleError, parse
from tests.commands.calling import call
from tests.docs.pages import blocks, codes, page, rows, section

PAGE = page("schedules")
MEANINGS = [(codes(row[0])[0], row[1]) for heading in ("Cron", "Intervals") for row in rows(section(PAGE, heading))]
REFUSALS = [(codes(row[0])[0], row[1]) for row in rows(section(PAGE, "What is refused"))]


@pytest.mark.parametrize(("text", "words"), MEANINGS)
def test_a_text_means_what_the_page_says(text, words):
    assert parse(text).describe().removesuffix(", UTC") == words


@pytest.mark.parametrize(("text", "reason"), REFUSALS)
def test_a_text_is_refused_for_the_reason_that_the_page_gives(text, reason):
    with pytest.raises(ScheduleError) as caught:
        parse(text)

    assert reason in caught.value.reason


def test_the_tables_are_there():
    assert len(MEANINGS) > 15
    assert len(REFUSALS) == 8


def test_the_preview_is_what_the_command_prints():
    (shown,) = blocks(PAGE, "console")
    typed, _, printed = shown.partition("\n")
    arguments = [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', typed)][3:]

    assert call(*arguments).out == printed


def test_the_example_in_code_gives_what_its_comments_say():
    schedule = parse("0 2 * * 1-5", "Europe/Berlin")

    assert schedule.describe() in PAGE
    found = schedule.next_after(datetime(2027, 3, 26, 12, tzinfo=UTC))
    assert f"{found:%Y-%m-%d %H:%M} UTC" in PAGE
