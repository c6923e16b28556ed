from __future__ import annotations

from datetime import UTC, datetime

import pytest

from django_leasejobs.exceptions import LeaseJobsError
from django_leasejobs.schedules import ScheduleError, parse

NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)

REFUSED = [
    # text, field at fault, words of the reason
    ("* * * * * *", "schedule", "six fields; write five, without seconds, or '@every 30s'"),
    ("0 0 12 * * ?", "schedule", "six fields"),
    ("0 0 12 1/1 * ? *", "schedule", "seven fields; write five, without seconds and year"),
    ("* * * *", "schedule", "has 4 fields; write five: minute, hour, day of month, month, day of week"),
    ("hello", "schedule", "has 1 field;"),
    ("* * * * * * * *", "schedule", "has 8 fields"),
    ("0 3 * * * # nightly", "schedule", "'# nightly': a comment can't follow a schedule"),
    ("0 3 * * * #nightly", "schedule", "'#nightly': a comment can't follow"),
    ("# 0 3 * * *", "schedule", "this is a comment, not a schedule"),
    ("０ 3 * * *", "schedule", "(FULLWIDTH DIGIT ZERO) is not plain ASCII"),
    ("0 3 * * ٣", "schedule", "is not plain ASCII"),
    ("0\xa03 * * *", "schedule", "(NO-BREAK SPACE) is not plain ASCII"),
    ("0 3 * * *\x00", "schedule", "'\\x00' (a control character)"),
    ("0 3 * *\n*", "schedule", "'\\n' (a control character)"),
    ("0 3 * * *" + "," * 2000, "schedule", "is longer than 1000 signs"),
    ("0 3 ? * *", "day of month", "'?' is not part of this dialect; write '*'"),
    ("0 3 * * ?", "day of week", "write '*'"),
    ("R * * * *", "minute", "use 'H', which is hashed from the job's name"),
    ("0 R(0-5) * * *", "hour", "use 'H'"),
    ("R/15 * * * *", "minute", "use 'H'"),
    ("61 * * * *", "minute", "minute 61 is out of range 0-59"),
    ("60 24 * * *", "minute", "minute 60 is out of range 0-59"),
    ("0 24 * * *", "hour", "hour 24 is out of range 0-23"),
    ("0 0 0 * *", "day of month", "day of month 0 is out of range 1-31"),
    ("0 0 32 * *", "day of month", "out of range 1-31"),
    ("0 0 * 0 *", "month", "month 0 is out of range 1-12"),
    ("0 0 * 13 *", "month", "out of range 1-12"),
    ("0 0 * * 8", "day of week", "out of range 0-7"),
    ("0 0-24 * * *", "hour", "hour 24 is out of range"),
    ("99999999999999999999 * * * *", "minute", "is out of range 0-59"),
    ("1 6 * * fri-sun", "day of week", "range 'fri-sun' runs backwards; write '5-7'"),
    ("1 6 * * 6-1", "day of week", "write '6,0-1'"),
    ("0 22-6 * * *", "hour", "range '22-6' runs backwards; write '22-23,0-6'"),
    ("0 23-0 * * *", "hour", "write '23,0'"),
    ("0 0 * nov-feb *", "month", "write '11-12,1-2'"),
    ("*/0 * * * *", "minute", "a step of 0 leads nowhere"),
    ("5-5/0 * * * *", "minute", "a step of 0 leads nowhere"),
    ("*/90 * * * *", "minute", "step 90 is wider than the field, which has 60 values"),
    ("*/61 * * * *", "minute", "use '@every' for a longer interval"),
    ("0 */25 * * *", "hour", "wider than the field, which has 24 values"),
    ("0 0 */32 * *", "day of month", "wider than the field"),
    ("0 0 * */13 *", "month", "wider than the field"),
    ("0 0 * * */8", "day of week", "wider than the field"),
    ("0-10/61 * * * *", "minute", "wider than the field"),
    ("H/61 * * * *", "minute", "wider than the field"),
    ("*/999999999999 * * * *", "minute", "wider than the field"),
    ("1,,2 * * * *", "minute", "a comma with nothing before or after it"),
    (",1 * * * *", "minute", "a comma with nothing"),
    ("1, * * * *", "minute", "a comma with nothing"),
    ("-5 * * * *", "minute", "'-5': numbers have no sign"),
    ("+5 * * * *", "minute", "numbers have no sign"),
    ("5- * * * *", "minute", "'5-' can't be read; write a number"),
    ("1-2-3 * * * *", "minute", "can't be read"),
    ("*-5 * * * *", "minute", "can't be read"),
    ("** * * * *", "minute", "can't be read"),
    ("*/ * * * *", "minute", "can't be read"),
    ("*/*/2 * * * *", "minute", "can't be read"),
    ("1_0 * * * *", "minute", "can't be read"),
    ("0x5 * * * *", "minute", "can't be read"),
    ("1.5 * * * *", "minute", "can't be read"),
    ("mon * * * *", "minute", "'mon' is not a name of this field; use a number"),
    ("0 0 * foo *", "month", "'foo' is not a name of this field; use jan, feb"),
    ("0 0 * * foo", "day of week", "use sun, mon, tue"),
    ("0 0 * january *", "month", "names have three letters; write 'jan'"),
    ("0 0 * * monday", "day of week", "names have three letters; write 'mon'"),
    ("0 0 * * mon,monday", "day of week", "write 'mon'"),
    ("0 0 * * 5#6", "day of week", "no month has a weekday number 6"),
    ("0 0 * * 5#0", "day of week", "no month has a weekday number 0"),
    ("0 0 * * 9#1", "day of week", "day of week 9 is out of range 0-7"),
    ("0 0 * * L", "day of week", "weekdays have '5L' (last Friday)"),
    ("0 0 L-3 * *", "day of month", "'L' (last day)"),
    ("0 0 LW * *", "day of month", "'15W' (nearest weekday)"),
    ("0 0 W * *", "day of month", "'15W' (nearest weekday)"),
    ("0 0 32W * *", "day of month", "out of range 1-31"),
    ("L * * * *", "minute", "can't be read here"),
    ("0 0 * * 1-5#2", "day of week", "can't be read here"),
    ("H(5-0) * * * *", "minute", "range of 'H(5-0)' runs backwards"),
    ("H(0-60) * * * *", "minute", "minute 60 is out of range"),
    ("H(5) * * * *", "minute", "can't be read"),
    ("H-5 * * * *", "minute", "can't be read"),
    ("@reboot", "schedule", "'@reboot' names no time"),
    ("@reboot x", "schedule", "'@reboot' names no time"),
    ("@fortnightly", "schedule", "'@fortnightly' is not known; there are @hourly, @daily"),
    ("@", "schedule", "'@' is not known"),
    ("@daily x", "schedule", "nothing may follow '@daily'"),
    ("@every", "interval", "'@every' needs an interval"),
    ("@every soon", "interval", "'soon' is not a length of time"),
    ("@every 0s", "interval", "'0s' is too short; a second is the least"),
    ("@every 500ms", "interval", "is too short"),
    ("@every -5m", "interval", "is negative"),
    ("@every 1h 30m", "interval", "is not a length of time"),
    ("@every15m", "schedule", "'@every15m' is not known"),
    ("@at", "time", "is not a date and time; write for example '@at 2026-12-01T02:00:00+01:00'"),
    ("@at tomorrow", "time", "'tomorrow' is not a date and time"),
    ("@at 2026-12-01", "time", "is not a date and time"),
    ("@at 2026-13-01T00:00", "time", "'2026-13-01T00:00' is not a date and time: month must be in 1..12"),
    ("@at 2026-02-30T00:00", "time", "is not a date and time"),
    ("@at 2026-12-01T25:00", "time", "is not a date and time"),
    ("@at 2026-12-01T02:00+25:00", "time", "is not a date and time"),
    ("@at 0001-01-01T00:00+10:00", "time", "is not a date and time"),
    ("@at 9999-12-31T23:59", "time", "does not exist"),
    ("0 0 31 2 *", "schedule", "'0 0 31 2 *' never fires: there is no such date"),
]


@pytest.mark.parametrize(("text", "field", "words"), REFUSED, ids=[repr(row[0][:40]) for row in REFUSED])
def test_bad_text_is_refused_with_the_field_and_the_way_out(text, field, words):
    with pytest.raises(ScheduleError) as caught:
        parse(text)

    assert (caught.value.field, words in caught.value.reason) == (field, True), caught.value.reason
    assert str(caught.value) == f"{field}: {caught.value.reason}"


@pytest.mark.parametrize("text", [None, 5, b"* * * * *", ["* * * * *"], NOON])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(ScheduleError, match="a schedule is text"):
        parse(text)


def test_a_schedule_error_is_a_value_error_of_this_package():
    assert issubclass(ScheduleError, ValueError)
    assert issubclass(ScheduleError, LeaseJobsError)


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_empty_text_is_a_schedule_that_never_fires_by_itself(text):
    schedule = parse(text, "Europe/Berlin")

    assert schedule.next_after(NOON) is None
    assert schedule.describe() == "only by hand"
    assert schedule.instants(NOON, NOON, 5) == []
    assert schedule.count(NOON, NOON, 5) == (0, None)
    assert schedule.touched_by_clock_change(NOON) is None
    assert (schedule.text, schedule.timezone) == ("", "Europe/Berlin")


def test_a_schedule_keeps_its_text_and_zone():
    schedule = parse("  0 2 * * MON ", "Europe/Berlin")

    assert (schedule.text, schedule.timezone) == ("0 2 * * MON", "Europe/Berlin")


def test_equal_schedules_are_one_object_whatever_their_job():
    assert parse("*/5 * * * *", name="one") is parse("*/5 * * * *", name="two", anchor=NOON)
    assert parse("H * * * *", name="one") is not parse("H * * * *", name="two")
    assert parse("@every 5m", anchor=NOON) is not parse("@every 5m")


@pytest.mark.parametrize(
    ("nickname", "fields"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
    ],
)
def test_a_nickname_stands_for_its_fields(nickname, fields):
    named, spelt = parse(nickname), parse(fields)

    assert named.next_after(NOON) == spelt.next_after(NOON)
    assert named.describe() == spelt.describe()
