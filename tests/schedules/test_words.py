from __future__ import annotations

from datetime import UTC, datetime

import pytest

from django_leasejobs.schedules import parse


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("* * * * *", "every minute"),
        ("*/15 * * * *", "every 15 minutes"),
        ("*/1 * * * *", "every minute"),
        ("*/7 * * * *", "every hour at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56"),
        ("@hourly", "every hour"),
        ("30 * * * *", "every hour at minute 30"),
        ("0,30 * * * *", "every 30 minutes"),
        ("0 */2 * * *", "every 2 hours"),
        ("20 */6 * * *", "every 6 hours at minute 20"),
        ("0 */12 * * *", "at 00:00 and 12:00 every day"),
        ("0 2 * * *", "at 02:00 every day"),
        ("0 2 * * 1-5", "at 02:00 on weekdays"),
        ("0 2 * * mon-fri", "at 02:00 on weekdays"),
        ("0 2 * * 6,0", "at 02:00 on weekends"),
        ("0 2 * * 0-6", "at 02:00 every day"),
        ("0 2 * * 7", "at 02:00 on Sundays"),
        ("0 7,9 * * 1,3", "at 07:00 and 09:00 on Mondays and Wednesdays"),
        ("*/20 2 * * *", "at 02:00, 02:20 and 02:40 every day"),
        ("*/15 9-17 * * 1-5", "every 15 minutes from 09:00 to 17:45 on weekdays"),
        ("* 9-17 * * *", "every minute from 09:00 to 17:59"),
        ("* 3 * * *", "at every minute of hour 3 every day"),
        ("30 9-17 * * *", "every hour from 09:30 to 17:30"),
        ("1-5 1,3,9 * * *", "at minutes 1 to 5 of hours 1, 3 and 9 every day"),
        ("0 0 1 * *", "at 00:00 on day 1 of the month"),
        ("0 0 1,15 * *", "at 00:00 on days 1 and 15 of the month"),
        ("0 0 1-7 6 *", "at 00:00 on days 1 to 7 of the month in June"),
        ("0 0 L * *", "at 00:00 on the last day of the month"),
        ("0 0 15,L * *", "at 00:00 on day 15 and the last day of the month"),
        ("0 0 15W * *", "at 00:00 on the weekday nearest to day 15 of the month"),
        ("0 0 * * 5L", "at 00:00 on the last Friday of the month"),
        ("0 0 * * 5#2", "at 00:00 on the second Friday of the month"),
        ("0 0 * * 1,5#2,5L", "at 00:00 on Mondays, the second Friday of the month and the last Friday of the month"),
        ("30 4 1,15 * 5", "at 04:30 on days 1 and 15 of the month and also on Fridays"),
        ("48 14 31 jun sun", "at 14:48 on day 31 of the month and also on Sundays, in June"),
        (
            "0 13 */2 * 1-5",
            "at 13:00 on days 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29 and 31 of the "
            "month, but only on weekdays",
        ),
        ("0 0 * 1-3 *", "at 00:00 every day from January to March"),
        ("0 0 * 1,7 *", "at 00:00 every day in January and July"),
        ("* * * */3 *", "every minute in January, April, July and October"),
        ("0 0 1-31 * 5", "at 00:00 every day"),
    ],
)
def test_cron_is_told_in_words_with_its_zone(text, words):
    assert parse(text, "Europe/Berlin").describe() == f"{words}, Europe/Berlin"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@every 15m", "every 15 minutes"),
        ("@every 60s", "every minute"),
        ("@every 90s", "every 1m30s"),
        ("@every 1h", "every hour"),
        ("@every 48h", "every 2 days"),
        ("@every 1d", "every day"),
        ("@every 1.5s", "every 1s500ms"),
    ],
)
def test_a_grid_is_told_in_words(text, words):
    assert parse(text).describe() == words


def test_a_grid_with_an_anchor_of_its_own_tells_it():
    anchor = datetime(2026, 12, 1, 2, tzinfo=UTC)

    assert parse("@every 1h30m", anchor=anchor).describe() == "every 1h30m, counted from 2026-12-01 02:00:00 UTC"
