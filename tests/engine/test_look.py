from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from django_leasejobs.engine.look import Outlook, look_ahead
from django_leasejobs.models import Lease
from tests.support.factories import NOOP, make_due_job, make_job, make_run, now
from tests.support.rows import HOUR, claimed_run, expire

pytestmark = pytest.mark.django_db


def look(queues: Any = (), tasks: Any = (NOOP,)) -> Outlook:
    return look_ahead(queues=queues, tasks=tasks)


def test_an_empty_database_has_nothing_in_sight() -> None:
    before = now()

    outlook = look()

    assert before <= outlook.now <= now()
    assert outlook == Outlook(outlook.now, False, None, None, None)
    assert (outlook.seconds_until_next(), outlook.can_plan, outlook.can_reclaim) == (None, False, False)


def test_a_look_is_one_statement_however_much_there_is(django_assert_num_queries: Any) -> None:
    """I10"""
    for _ in range(5):
        make_due_job()
        claimed_run(make_job())

    with django_assert_num_queries(1):
        look(queues=("a", "b"), tasks=("x", "y"))


def test_due_jobs_expired_leases_and_waiting_runs_are_seen() -> None:
    job = make_due_job(ago=HOUR)
    expire(claimed_run(make_job()))
    make_run()

    outlook = look()

    assert (outlook.can_claim, outlook.can_plan, outlook.can_reclaim) == (True, True, True)
    assert outlook.next_plan == job.next_run_at
    assert outlook.seconds_until_next() == 0


def test_the_next_instant_the_next_expiry_and_the_next_retry_are_known() -> None:
    job = make_job(next_run_at=now() + 3 * HOUR)
    claimed_run(make_job(), lease_duration=2 * HOUR)
    later = make_run(available_at=now() + HOUR)

    outlook = look()

    assert (outlook.next_plan, outlook.next_available) == (job.next_run_at, later.available_at)
    assert outlook.next_expiry == Lease.objects.get().expires_at
    assert (outlook.can_claim, outlook.can_plan, outlook.can_reclaim) == (False, False, False)
    wait = outlook.seconds_until_next()
    assert wait is not None
    assert wait == pytest.approx(3600, abs=30)


def test_a_run_that_this_worker_must_not_take_is_no_reason_to_look_again() -> None:
    job = make_job()
    claimed_run(job)
    make_run(job)
    make_run(queue="other")
    make_run(task="unknown")

    outlook = look(queues=("default",))

    assert (outlook.can_claim, outlook.next_available) == (False, None)


def test_the_times_of_an_outlook_are_aware_and_to_the_microsecond() -> None:
    instant = (now() + HOUR).replace(microsecond=999_999)
    make_job(next_run_at=instant)

    assert look().next_plan == instant
    assert look().now.utcoffset() == timedelta(0)


def test_a_worker_whose_code_has_no_task_sees_what_else_is_due() -> None:
    make_due_job()
    make_run()

    outlook = look(tasks=())

    assert (outlook.can_claim, outlook.can_plan) == (False, True)
