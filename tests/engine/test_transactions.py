from __future__ import annotations

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from django_leasejobs.engine import transactions
from django_leasejobs.engine.transactions import TRIES, in_short_transaction, short_transaction
from django_leasejobs.engine.trigger import Order, trigger_job
from django_leasejobs.exceptions import UnknownJob
from django_leasejobs.models import Job, Run
from tests.support.factories import make_job


class Failing:
    """An act that fails so many times with an error, each time after a write."""

    def __init__(self, error: Exception, times: int) -> None:
        self.error, self.left, self.calls = error, times, 0

    def __call__(self) -> str:
        self.calls += 1
        make_job(name="once")
        if self.left:
            self.left -= 1
            raise self.error
        return "done"


def deadlock() -> OperationalError:
    """Build the error by which this database says that a transaction should be tried again."""
    error = OperationalError("database is locked")
    if connection.vendor == "postgresql":
        error.__cause__ = type("DeadlockDetected", (Exception,), {"sqlstate": "40P01"})()
    elif connection.vendor == "mysql":
        error.__cause__ = Exception(1213, "Deadlock found when trying to get lock")
    return error


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "FIRST_PAUSE", 0.0)


@pytest.mark.django_db(transaction=True)
def test_a_deadlock_is_tried_again_with_nothing_left_of_the_first_try() -> None:
    """I8"""
    act = Failing(deadlock(), times=2)

    assert in_short_transaction(act)() == "done"
    assert (act.calls, Job.objects.count()) == (3, 1)


@pytest.mark.django_db(transaction=True)
def test_a_deadlock_that_does_not_end_is_raised() -> None:
    act = Failing(deadlock(), times=99)

    with pytest.raises(OperationalError):
        in_short_transaction(act)()

    assert (act.calls, Job.objects.count()) == (TRIES, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [IntegrityError("duplicate"), ValueError("a defect")])
def test_other_errors_are_not_tried_again(error: Exception) -> None:
    act = Failing(error, times=99)

    with pytest.raises(type(error)):
        in_short_transaction(act)()

    assert (act.calls, Job.objects.count()) == (1, 0)


@pytest.mark.django_db(transaction=True)
def test_inside_a_callers_transaction_a_deadlock_is_left_to_the_caller() -> None:
    act = Failing(deadlock(), times=1)

    with pytest.raises(OperationalError), transaction.atomic():
        in_short_transaction(act)()

    assert (act.calls, Job.objects.count()) == (1, 0)


@pytest.mark.django_db(transaction=True)
def test_a_caller_who_rolls_back_takes_the_engines_rows_along() -> None:
    make_job(name="nightly")

    with transaction.atomic():
        run = trigger_job("nightly", Order())
        transaction.set_rollback(True)

    assert run.pk is not None
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_a_caller_who_catches_an_error_can_go_on_in_the_same_transaction() -> None:
    with pytest.raises(UnknownJob):
        trigger_job("no such job", Order())

    make_job(name="nightly")
    assert Job.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_statements_are_bounded_within_the_transaction_only() -> None:
    if connection.vendor == "postgresql":
        limits = []
        for _ in range(2):
            with short_transaction(connection.alias, timeout=1.5), connection.cursor() as cursor:
                cursor.execute("SHOW statement_timeout")
                limits.append(cursor.fetchone()[0])
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            assert (limits, cursor.fetchone()[0]) == (["1500ms"] * 2, "0")
    elif connection.vendor == "mysql":
        with short_transaction(connection.alias, timeout=1.5), connection.cursor() as cursor:
            cursor.execute("SELECT @@innodb_lock_wait_timeout")
            assert cursor.fetchone()[0] == 1
    else:
        with short_transaction(connection.alias):
            assert connection.in_atomic_block
        assert connection.settings_dict["OPTIONS"]["timeout"] == 20


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_reads_first_takes_sqlites_write_lock_when_it_begins() -> None:
    with CaptureQueriesContext(connection) as queries:
        with short_transaction(connection.alias):
            make_job()
        with transaction.atomic():
            make_job()

    begins = [query["sql"] for query in queries if query["sql"].startswith("BEGIN")]
    assert begins == (["BEGIN IMMEDIATE", "BEGIN"] if connection.vendor == "sqlite" else ["BEGIN", "BEGIN"])
