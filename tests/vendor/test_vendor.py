from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    connections,
    transaction,
)
from django.db.models import Model
from django.test import override_settings

from django_leasejobs import vendor
from django_leasejobs.models import Job
from tests.support.factories import make_job


def caused(error: DatabaseError, cause: BaseException) -> DatabaseError:
    error.__cause__ = cause
    return error


def of_postgresql(state: str) -> DatabaseError:
    return caused(OperationalError("failed"), type("Error", (Exception,), {"sqlstate": state})())


def of_mysql(code: int) -> DatabaseError:
    return caused(OperationalError(code, "failed"), Exception(code, "failed"))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (of_postgresql("40001"), True),
        (of_postgresql("40P01"), True),
        (of_postgresql("55P03"), True),
        (of_postgresql("57014"), False),
        (of_postgresql("23505"), False),
        (of_mysql(1205), True),
        (of_mysql(1213), True),
        (of_mysql(1020), True),
        (of_mysql(2006), False),
        (of_mysql(1062), False),
        (OperationalError("database is locked"), True),
        (OperationalError("database table is locked: leasejobs_run"), True),
        (OperationalError("no such table: leasejobs_run"), False),
        (IntegrityError("UNIQUE constraint failed"), False),
        (InterfaceError("connection already closed"), False),
        (ValueError("database is locked"), False),
    ],
    ids=repr,
)
def test_only_what_the_same_statements_may_outlive_is_tried_again(error: BaseException, expected: bool) -> None:
    assert vendor.is_retryable(error) is expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OperationalError("server closed the connection"), True),
        (InterfaceError("connection already closed"), True),
        (DataError("bad"), True),
        (ValueError("a defect"), False),
    ],
)
def test_faults_of_the_database_are_told_from_defects(error: BaseException, expected: bool) -> None:
    assert vendor.is_database_fault(error) is expected


@pytest.mark.django_db(transaction=True)
def test_sqlites_way_to_begin_is_put_back_also_after_an_error() -> None:
    before = getattr(connection, "transaction_mode", None)

    with pytest.raises(ZeroDivisionError), vendor.write_lock_at_begin(connection):
        raise ZeroDivisionError

    assert getattr(connection, "transaction_mode", None) == before


@pytest.mark.django_db(transaction=True)
def test_locked_rows_are_locked_where_the_database_can() -> None:
    make_job()
    with transaction.atomic():
        sql = str(vendor.lock(Job.objects.all(), skip_locked=True).query)
        assert len(vendor.lock(Job.objects.all(), skip_locked=True)) == 1

    can = connection.features.has_select_for_update_skip_locked
    assert ("SKIP LOCKED" in sql) is can
    assert ("NO KEY" in sql) is (connection.vendor == "postgresql")


@pytest.mark.django_db
def test_a_notification_is_harmless_everywhere() -> None:
    vendor.notify(connection.alias, "claim")

    assert vendor.can_listen(connection.alias) is (connection.vendor == "postgresql")


@pytest.mark.django_db
def test_new_keys_come_back_from_a_bulk_insert_where_the_database_says_so() -> None:
    """Where it is said, it must be so: the keys of new leases are tokens."""
    made = Job.objects.bulk_create([Job(name=f"bulk-{number}", task="t") for number in range(3)])

    if vendor.returns_keys(connection.alias):
        by_name = dict(Job.objects.values_list("name", "pk"))
        assert {job.name: job.pk for job in made} == by_name
    else:
        assert {job.pk for job in made} == {None}


class ReadsElsewhere:
    """A router as for a replica: reads and writes go to different aliases."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        return "replica"

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        return "primary"


@override_settings(DATABASE_ROUTERS=[ReadsElsewhere()])
def test_the_alias_is_where_rows_are_written_and_a_configured_one_goes_first() -> None:
    assert vendor.write_alias(Job, None) == "primary"
    assert vendor.write_alias(Job, "jobs") == "jobs"


def test_statements_of_an_unknown_database_are_not_bounded() -> None:
    unknown: Any = SimpleNamespace(vendor="oracle")

    vendor.limit_statements(unknown, 1.0)

    assert connections["default"].vendor != "oracle"
