from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from django_leasejobs.engine.complete import complete_atomically
from django_leasejobs.engine.finish import Finished
from django_leasejobs.engine.guard import guarded, save_state
from django_leasejobs.engine.outcomes import Succeeded
from django_leasejobs.exceptions import LeaseLost
from django_leasejobs.models import Attempt, Calendar, Lease, RunStatus
from tests.support.factories import claim, make_job, make_run
from tests.support.rows import all_rows, claimed_run, end, expire, stored

pytestmark = pytest.mark.django_db(transaction=True)


def effects() -> list[str]:
    return list(Calendar.objects.order_by("name").values_list("name", flat=True))


def work() -> tuple[Any, str]:
    Calendar.objects.create(name="effect")
    return {"sum": 1}, "a line"


def test_the_effects_the_result_and_the_end_of_the_lease_come_together() -> None:
    """I4"""
    job = make_job()
    run = claimed_run(job)
    Lease.objects.update(progress={"done": 1})

    result = complete_atomically(run, work)

    row = stored(run)
    assert result == {"sum": 1}
    assert (row.status, row.result, row.log, row.progress) == (RunStatus.SUCCESSFUL, result, "a line", {"done": 1})
    assert row.finished_at is not None
    assert effects() == ["effect"]
    assert not Lease.objects.exists()
    assert not Attempt.objects.exists()
    make_run(job)
    assert len(claim().runs) == 1


def test_a_success_without_result_log_or_progress_is_recorded_too() -> None:
    run = claimed_run()

    assert complete_atomically(run, lambda: (None, "")) is None
    assert stored(run).status == RunStatus.SUCCESSFUL


def test_what_the_job_raises_leaves_nothing_behind_and_the_lease_in_place() -> None:
    run = claimed_run()
    before = all_rows()

    def failing() -> tuple[Any, str]:
        work()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        complete_atomically(run, failing)

    assert effects() == []
    assert all_rows() == before


@pytest.mark.parametrize("how", ["gone", "expired"])
def test_the_job_is_not_called_without_the_lease(how: str) -> None:
    run = claimed_run()
    if how == "gone":
        Lease.objects.all().delete()
    expire(run)
    before = all_rows()

    with pytest.raises(LeaseLost):
        complete_atomically(run, work)

    assert effects() == []
    assert all_rows() == before


def test_a_report_after_the_success_was_recorded_changes_nothing() -> None:
    run = claimed_run()
    complete_atomically(run, work)
    before = all_rows()

    assert end(run, Succeeded()) == Finished((), ())
    assert all_rows() == before


def test_commit_hooks_of_the_job_are_called_once_and_after_the_success_is_there() -> None:
    run = claimed_run()
    seen: list[tuple[str, bool]] = []

    def hooked() -> tuple[Any, str]:
        transaction.on_commit(lambda: seen.append((stored(run).status, connection.in_atomic_block)))
        return work()

    complete_atomically(run, hooked)

    assert seen == [("SUCCESSFUL", False)]


def test_commit_hooks_of_a_job_that_raises_are_not_called() -> None:
    run = claimed_run()
    seen: list[str] = []

    def failing() -> tuple[Any, str]:
        transaction.on_commit(lambda: seen.append("called"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        complete_atomically(run, failing)

    assert seen == []


def test_a_job_may_guard_and_save_state_inside() -> None:
    run = claimed_run()

    def guarding() -> tuple[Any, str]:
        with guarded(run):
            save_state(run, 5)
        return work()

    complete_atomically(run, guarding)

    assert (stored(run).state, stored(run).status) == (5, RunStatus.SUCCESSFUL)


def test_a_job_that_breaks_its_transaction_and_returns_is_no_success() -> None:
    run = claimed_run()

    def breaking() -> tuple[Any, str]:
        work()
        try:
            with transaction.atomic(savepoint=False):
                Calendar.objects.create(name="effect")
        except DatabaseError:
            pass
        return None, ""

    with pytest.raises(DatabaseError):
        complete_atomically(run, breaking)

    assert effects() == []
    assert (stored(run).status, Lease.objects.count()) == (RunStatus.RUNNING, 1)


def test_a_job_that_asks_for_a_rollback_is_no_success() -> None:
    """A success whose transaction is rolled back must not pass for one."""
    run = claimed_run()

    def rolling_back() -> tuple[Any, str]:
        work()
        transaction.set_rollback(True)
        return None, ""

    with pytest.raises(transaction.TransactionManagementError):
        complete_atomically(run, rolling_back)

    assert effects() == []
    assert Lease.objects.count() == 1
