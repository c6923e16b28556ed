"""What the database itself refuses, so that a bug becomes an error and not a double run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from django_leasejobs.models import Attempt, Calendar, Job, Lease, Outcome, Run, RunStatus
from tests.support.factories import make_job, make_run, make_worker, now

pytestmark = pytest.mark.django_db

INSTANT = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
NEGATIVE = timedelta(microseconds=-1)
ZERO = timedelta(0)


def make_lease(run: Run, **values: Any) -> Lease:
    at = now()
    values = {"duration": timedelta(seconds=60), "claimed_at": at, "renewed_at": at, "expires_at": at, **values}
    return Lease.objects.create(run=run, **values)


def refused() -> Any:
    return pytest.raises(IntegrityError)


def test_one_instant_of_a_job_has_one_row_whatever_its_status() -> None:
    """I2"""
    job = make_job()
    make_run(job, scheduled_for=INSTANT)

    with refused(), transaction.atomic():
        make_run(job, scheduled_for=INSTANT, status=RunStatus.SKIPPED, finished_at=INSTANT)

    assert Run.objects.count() == 1


def test_the_same_instant_of_two_jobs_and_runs_without_an_instant_do_not_clash() -> None:
    job, other = make_job(), make_job()

    for run_of, instant in ((job, INSTANT), (other, INSTANT), (job, None), (job, None), (None, INSTANT)):
        make_run(run_of, scheduled_for=instant)

    assert Run.objects.count() == 5


def test_instants_are_told_apart_by_the_microsecond() -> None:
    job = make_job()
    instants = [INSTANT.replace(microsecond=999_999), INSTANT + timedelta(seconds=1)]

    for instant in instants:
        make_run(job, scheduled_for=instant)

    assert list(Run.objects.order_by("scheduled_for").values_list("scheduled_for", flat=True)) == instants


def test_a_run_has_one_lease() -> None:
    """I1"""
    run = make_run()
    make_lease(run)

    with refused(), transaction.atomic():
        make_lease(run)

    assert Lease.objects.count() == 1


def test_an_exclusive_job_has_one_lease() -> None:
    """I1"""
    job = make_job()
    make_lease(make_run(job), exclusive_job=job)

    with refused(), transaction.atomic():
        make_lease(make_run(job), exclusive_job=job)

    assert Lease.objects.count() == 1


def test_leases_of_a_job_whose_runs_may_overlap_do_not_clash() -> None:
    job = make_job(overlap="allow")

    for _ in range(2):
        make_lease(make_run(job))

    assert Lease.objects.count() == 2


def test_an_idempotency_key_is_used_once() -> None:
    make_run(idempotency_key="order-17")

    with refused(), transaction.atomic():
        make_run(idempotency_key="order-17")


def test_a_job_name_is_used_once() -> None:
    make_job(name="nightly")

    with refused(), transaction.atomic():
        make_job(name="nightly")


@pytest.mark.parametrize(
    "values",
    [
        {"name": ""},
        {"source": "x"},
        {"overlap": "x"},
        {"catch_up": "x"},
        {"spread": NEGATIVE},
        {"start_deadline": ZERO},
        {"starts_at": INSTANT, "ends_at": INSTANT},
        {"lease": ZERO},
        {"timeout": ZERO},
        {"backoff": NEGATIVE},
        {"priority": -101},
        {"priority": 101},
        {"retries": -1},
        {"max_lost": -1},
    ],
    ids=str,
)
def test_a_job_out_of_range_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(Exception, match=r"(?i)constraint|check|range") as caught, transaction.atomic():
        make_job(**values)

    assert caught.type.__name__ in ("IntegrityError", "DataError", "OperationalError")
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    "values",
    [
        {"status": "x"},
        {"origin": "x"},
        {"instants": 0},
        {"status": RunStatus.READY, "finished_at": INSTANT},
        {"status": RunStatus.RUNNING, "finished_at": INSTANT},
        {"status": RunStatus.SUCCESSFUL, "finished_at": None},
        {"status": RunStatus.MISSED, "finished_at": None},
        {"lease_duration": ZERO},
        {"timeout": ZERO},
        {"backoff": NEGATIVE},
        {"priority": 101},
    ],
    ids=str,
)
def test_a_run_out_of_range_is_refused(values: dict[str, Any]) -> None:
    with refused(), transaction.atomic():
        make_run(**values)

    assert not Run.objects.exists()


def test_a_lease_without_a_length_is_refused() -> None:
    run = make_run()

    with refused(), transaction.atomic():
        make_lease(run, duration=ZERO)


def test_an_attempt_with_an_unknown_outcome_is_refused() -> None:
    run = make_run()

    with refused(), transaction.atomic():
        Attempt.objects.create(run=run, token=1, number=1, outcome="x", started_at=INSTANT, ended_at=INSTANT)


def test_a_worker_without_slots_is_refused() -> None:
    with refused(), transaction.atomic():
        make_worker(concurrency=0)


def test_a_calendar_without_a_name_is_refused() -> None:
    with refused(), transaction.atomic():
        Calendar.objects.create(name="")


@pytest.mark.parametrize("status", RunStatus)
def test_each_status_can_be_stored(status: RunStatus) -> None:
    over = status not in (RunStatus.READY, RunStatus.RUNNING)

    run = make_run(status=status, finished_at=INSTANT if over else None)

    run.refresh_from_db()
    assert (run.status, run.is_finished) == (status, over)


@pytest.mark.parametrize("outcome", Outcome)
def test_each_outcome_can_be_stored(outcome: Outcome) -> None:
    run = make_run()

    Attempt.objects.create(run=run, token=1, number=1, outcome=outcome, started_at=INSTANT, ended_at=INSTANT)

    assert str(run.attempts.get()) == f"attempt 1 of run {run.pk}: {outcome}"


def test_durations_keep_their_microseconds() -> None:
    length = timedelta(days=400, seconds=3, microseconds=7)

    job = make_job(lease=length, spread=length, timeout=length)

    job.refresh_from_db()
    assert (job.lease, job.spread, job.timeout) == (length, length, length)


def test_tokens_grow_also_after_the_last_lease_is_gone() -> None:
    """I4: a token is never handed out twice, even when the table is empty in between."""
    tokens = []

    for _ in range(3):
        lease = make_lease(make_run())
        tokens.append(lease.token)
        lease.delete()

    assert tokens == sorted(set(tokens))


def test_rows_name_themselves() -> None:
    job = make_job(name="nightly")
    run = make_run(job)

    assert [str(job), str(run), str(make_run()), str(make_lease(run))] == [
        "nightly",
        f"nightly #{run.pk}",
        f"tests.noop #{run.pk + 1}",
        f"lease {run.lease.pk} of run {run.pk}",
    ]
    assert str(make_worker(name="w")) == "w"
    assert str(Calendar(name="holidays")) == "holidays"
