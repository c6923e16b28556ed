from __future__ import annotations

import os
from zoneinfo import ZoneInfo

import pytest

from django_leasejobs.schedules import ScheduleError, parse, zone, zone_names


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "no time zone given"),
        ("UTC+3", "did you mean 'UTC'?"),
        ("utc", "did you mean 'UTC'?"),
        ("Europe/Londn", "did you mean 'Europe/London'?"),
        ("europe/berlin", "did you mean 'Europe/Berlin'?"),
        ("Europe/Berlin ", "did you mean 'Europe/Berlin'?"),
        ("America", "'America' is a group of time zones, not one"),
        ("America/Argentina", "is a group of time zones"),
        ("../UTC", "'../UTC' is not a known time zone"),
        ("/etc/passwd", "is not a known time zone"),
        ("Europe/../UTC", "is not a known time zone"),
        ("UTC\0", "is not a known time zone"),
        ("\0", "is not a known time zone"),
        ("Ａ", "is not a known time zone"),
        ("\udce4", "is not a known time zone"),
        ("x" * 10_000, "is too long for a time zone"),
        ("localtime", "does not say which zone it is"),
        ("Factory", "does not say which zone it is"),
        ("posix/Europe/Berlin", "is not a known time zone"),
        ("right/UTC", "is not a known time zone"),
        (".", "is not a known time zone"),
        (None, "a time zone is given by its name, not None"),
        (5, "a time zone is given by its name"),
        ([], "a time zone is given by its name"),
    ],
)
def test_a_bad_zone_is_refused_under_the_field_timezone(name, words):
    with pytest.raises(ScheduleError) as caught:
        parse("0 3 * * *", name)

    assert caught.value.field == "timezone"
    assert words in caught.value.reason
    assert len(caught.value.reason) < 200


def test_a_bad_zone_is_refused_for_every_sort_of_schedule():
    for text in ("", "@every 5m", "@at 2026-12-01T02:00:00+01:00", "@daily"):
        with pytest.raises(ScheduleError, match="timezone"):
            parse(text, "Mars/Olympus")


def test_a_known_zone_is_returned():
    assert zone("Europe/Berlin") is ZoneInfo("Europe/Berlin")
    assert zone(ZoneInfo("Asia/Tokyo")) is ZoneInfo("Asia/Tokyo")


def test_zone_data_that_cant_be_read_is_refused(tmp_path, monkeypatch):
    import zoneinfo

    from django_leasejobs.schedules import zones

    (tmp_path / "Broken").write_bytes(b"TZif")
    monkeypatch.setattr(zones, "_names", lambda: frozenset({"Broken/Zone"}))
    zoneinfo.reset_tzpath(to=[os.fspath(tmp_path)])
    try:
        with pytest.raises(ScheduleError, match="can't be read"):
            zone("Broken/Zone")
    finally:
        zoneinfo.reset_tzpath()


def test_the_names_that_are_offered_are_those_that_are_accepted():
    names = zone_names()

    assert names == sorted(names)
    assert {"Europe/Berlin", "UTC"} <= set(names)
    assert not {"localtime", "Factory", "posixrules"} & set(names)
    for name in names:
        assert str(zone(name)) == name
