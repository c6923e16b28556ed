from __future__ import annotations

import pytest
from django.db import connection, transaction

from django_leasejobs.engine.guard import guarded, save_state
from django_leasejobs.engine.outcomes import Succeeded
from django_leasejobs.exceptions import LeaseLost
from django_leasejobs.models import Calendar, Lease
from tests.support.factories import now
from tests.support.rows import HOUR, all_rows, claimed_run, end, expire, stored

transactional = pytest.mark.django_db(transaction=True)


def effect(name: str = "effect") -> None:
    """Write something that is not the engine's."""
    Calendar.objects.create(name=name)


def effects() -> list[str]:
    return list(Calendar.objects.order_by("name").values_list("name", flat=True))


@transactional
def test_effects_commit_under_a_valid_lease() -> None:
    run = claimed_run()

    with guarded(run):
        effect()

    assert effects() == ["effect"]
    assert not connection.in_atomic_block
    assert len(end(run, Succeeded()).recorded) == 1


@transactional
def test_a_guard_is_not_entered_without_the_lease() -> None:
    """I4"""
    run = claimed_run()
    Lease.objects.all().delete()

    with pytest.raises(LeaseLost, match=f"token {run.token}"), guarded(run):
        effect()

    assert effects() == []


@transactional
def test_a_guard_is_not_entered_when_the_lease_ran_out_though_nobody_took_it() -> None:
    run = claimed_run()
    expire(run)

    with pytest.raises(LeaseLost), guarded(run):
        effect()

    assert effects() == []


@transactional
def test_a_guard_is_not_entered_when_the_run_is_gone() -> None:
    run = claimed_run()
    stored(run).delete()

    with pytest.raises(LeaseLost), guarded(run):
        effect()


@transactional
def test_what_a_job_raises_inside_rolls_its_effects_back() -> None:
    run = claimed_run()

    with pytest.raises(ZeroDivisionError), guarded(run):  # noqa: PT012
        effect()
        raise ZeroDivisionError

    assert effects() == []
    assert Lease.objects.get().pk == run.token


@transactional
def test_guards_nest_and_an_inner_failure_that_is_caught_rolls_back_only_itself() -> None:
    run = claimed_run()

    with guarded(run):
        effect("outer")
        with guarded(run):
            effect("inner")
        with pytest.raises(ZeroDivisionError), guarded(run):  # noqa: PT012
            effect("failed")
            raise ZeroDivisionError

    assert effects() == ["inner", "outer"]


@transactional
def test_a_guard_joins_an_outer_transaction_which_decides() -> None:
    run = claimed_run()

    with transaction.atomic():
        with guarded(run):
            effect()
        transaction.set_rollback(True)

    assert effects() == []


@transactional
def test_a_second_guard_after_the_first_is_asked_anew() -> None:
    run = claimed_run()
    with guarded(run):
        effect("first")
    expire(run)

    with pytest.raises(LeaseLost), guarded(run):
        effect("second")

    assert effects() == ["first"]


@transactional
def test_another_database_than_the_jobs_own_is_refused_with_the_reason() -> None:
    run = claimed_run()

    with pytest.raises(ValueError, match="no transaction spans two databases"), guarded(run, "other"):
        effect()

    with guarded(run, connection.alias):
        effect()
    assert effects() == ["effect"]


@transactional
def test_a_guard_leaves_the_lease_with_a_full_term_on_sqlite_and_alone_elsewhere() -> None:
    """SQLite's write lock keeps renewals out while a guard is open, so its end stands for them."""
    run = claimed_run()
    Lease.objects.update(renewed_at=now() - HOUR)

    with guarded(run):
        effect()

    renewed = Lease.objects.get().renewed_at > now() - HOUR / 2
    assert renewed is (connection.vendor == "sqlite")


@transactional
def test_state_is_saved_under_a_valid_lease() -> None:
    run = claimed_run()

    save_state(run, {"row": 7})

    assert stored(run).state == {"row": 7}


@transactional
@pytest.mark.parametrize("how", ["gone", "expired"])
def test_state_is_not_saved_without_the_lease(how: str) -> None:
    run = claimed_run(state=1)
    if how == "gone":
        Lease.objects.all().delete()
    expire(run)
    before = all_rows()

    with pytest.raises(LeaseLost, match="its state was not saved"):
        save_state(run, 2)

    assert all_rows() == before


@transactional
def test_state_saved_inside_a_guard_commits_or_rolls_back_with_it() -> None:
    run = claimed_run(state=0)

    with pytest.raises(ZeroDivisionError), guarded(run):  # noqa: PT012
        save_state(run, 1)
        raise ZeroDivisionError
    assert stored(run).state == 0

    with guarded(run):
        save_state(run, 2)
    assert stored(run).state == 2
