from __future__ import annotations

import datetime as dt
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.db.models import F

from django_leasejobs.clock import DatabaseNow, as_utc, database_now, now_sql
from django_leasejobs.models import Lease, Run
from tests.support.factories import make_run
from tests.support.rows import SECOND, claimed_run

ONE_HOUR = dt.timedelta(hours=1)


@pytest.mark.django_db
def test_the_databases_time_is_an_aware_utc_datetime_that_goes_on() -> None:
    first, second = database_now(connection.alias), database_now(connection.alias)

    assert first.tzinfo == dt.UTC
    assert dt.timedelta(0) <= second - first < 60 * SECOND
    assert abs(dt.datetime.now(dt.UTC) - second) < 60 * SECOND


@pytest.mark.django_db
def test_the_clock_moves_within_a_transaction() -> None:
    """I6: a lease checked in a long transaction must be checked against the time of the check."""
    start = database_now(connection.alias)
    while (later := database_now(connection.alias)) == start:
        pass

    assert later > start


@pytest.mark.django_db
def test_one_statement_has_one_time() -> None:
    make_run()

    first, second = Run.objects.annotate(a=DatabaseNow(), b=DatabaseNow()).values_list("a", "b").get()

    assert as_utc(first) == as_utc(second)


@pytest.mark.django_db
def test_a_stored_time_and_the_time_of_a_select_compare() -> None:
    run = make_run()
    Run.objects.update(available_at=DatabaseNow())
    run.refresh_from_db()

    assert run.available_at.tzinfo is not None
    assert run.available_at <= database_now(connection.alias)
    assert Run.objects.filter(available_at__lte=DatabaseNow()).exists()
    assert not Run.objects.filter(available_at__gt=DatabaseNow()).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("micros", [0, 1, 999_999])
def test_fractions_of_a_second_are_neither_rounded_up_nor_cut(micros: int) -> None:
    """A rounded "now" is not due for up to a second; a cut one makes two instants equal."""
    instant = dt.datetime(2026, 3, 1, 2, 0, 59, micros, tzinfo=dt.UTC)

    run = make_run(available_at=instant)

    run.refresh_from_db()
    assert run.available_at == instant
    assert Run.objects.filter(
        available_at__lt=instant + dt.timedelta(microseconds=1), available_at__gte=instant
    ).exists()


@pytest.mark.django_db
def test_time_plus_a_duration_keeps_its_fraction() -> None:
    run = claimed_run(lease_duration=dt.timedelta(seconds=1, microseconds=999_999))

    Lease.objects.update(expires_at=F("renewed_at") + F("duration"))

    lease = Lease.objects.get()
    assert lease.expires_at - lease.renewed_at == run.lease == dt.timedelta(seconds=1, microseconds=999_999)


@pytest.mark.django_db
@pytest.mark.parametrize("zone", ["+13:00", "-08:00"])
def test_the_sessions_time_zone_decides_nothing(zone: str) -> None:
    """I6: MySQL's CURRENT_TIMESTAMP would be hours off in such a session."""
    make_run()
    Run.objects.update(available_at=DatabaseNow())
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL TIME ZONE INTERVAL %s HOUR TO MINUTE", [zone])
        elif connection.vendor == "mysql":
            cursor.execute("SET time_zone = %s", [zone])

    try:
        due = Run.objects.filter(available_at__lte=DatabaseNow(), available_at__gt=DatabaseNow() - 60 * SECOND)
        assert due.exists()
    finally:
        if connection.vendor == "mysql":
            with connection.cursor() as cursor:
                cursor.execute("SET time_zone = '+00:00'")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-01 02:00:00.123000", dt.datetime(2026, 3, 1, 2, 0, 0, 123_000, tzinfo=dt.UTC)),
        (dt.datetime(2026, 3, 1, 2), dt.datetime(2026, 3, 1, 2, tzinfo=dt.UTC)),
        (
            dt.datetime(2026, 3, 1, 2, tzinfo=dt.timezone(ONE_HOUR)),
            dt.datetime(2026, 3, 1, 1, tzinfo=dt.UTC),
        ),
    ],
)
def test_whatever_a_driver_returns_becomes_utc(value: Any, expected: dt.datetime) -> None:
    assert as_utc(value) == expected
    assert as_utc(value).tzinfo == dt.UTC


def test_an_unsupported_database_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match="'oracle'"):
        DatabaseNow().as_sql(None, SimpleNamespace(vendor="oracle"))  # type: ignore[arg-type]


def test_the_clock_of_hand_written_statements_is_the_same() -> None:
    sql, _ = {
        "postgresql": DatabaseNow().as_postgresql, "mysql": DatabaseNow().as_mysql, "sqlite": DatabaseNow().as_sqlite
    }[connection.vendor](None, connection)  # type: ignore[arg-type]  # fmt: skip

    assert sql.replace("%%", "%") == now_sql(connection)
