"""What is triggered beside overlap and keys: the arguments of one run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from django_leasejobs import job
from django_leasejobs.engine.backfill import backfill_job
from django_leasejobs.engine.trigger import Order, trigger_job
from django_leasejobs.exceptions import JobDefinitionError
from django_leasejobs.models import Run, Source
from tests.support.factories import make_job, make_task, now

pytestmark = pytest.mark.django_db


def report(warehouse: str) -> None:
    """Take one argument."""


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (Order(args=[1, 2]), "don't fit 'report'"),
        (Order(kwargs={}), "don't fit 'report' .*: missing a required argument: 'warehouse'"),
        (Order(args="m", kwargs={}), "must be a list, not 'm'"),
        (Order(kwargs={"warehouse": object()}), "can't be stored as JSON"),
    ],
)
def test_arguments_that_the_task_cannot_take_make_no_run(order: Order, words: str) -> None:
    make_task("report", report)
    make_job(name="nightly", task="report", kwargs={"warehouse": "main"})

    with pytest.raises(JobDefinitionError, match=words):
        trigger_job("nightly", order)

    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({}, ([], {"warehouse": "main"})),
        ({"kwargs": {"warehouse": "east"}}, ([], {"warehouse": "east"})),
        ({"args": ("west",), "kwargs": {}}, (["west"], {})),
    ],
)
def test_arguments_stand_in_for_the_jobs_own(given: dict[str, Any], stored: tuple[Any, Any]) -> None:
    make_task("report", report)
    make_job(name="nightly", task="report", kwargs={"warehouse": "main"})

    run = trigger_job("nightly", Order(**given))

    assert (run.args, run.kwargs) == stored


def test_arguments_of_a_task_that_this_code_does_not_know_must_be_storable() -> None:
    make_job(name="theirs", task="theirs")

    assert trigger_job("theirs", Order(kwargs={"whatever": 1})).kwargs == {"whatever": 1}
    with pytest.raises(JobDefinitionError, match="NUL character"):
        trigger_job("theirs", Order(kwargs={"whatever": "\0"}))


@pytest.mark.parametrize("key", [None, "order-17"])
def test_a_job_that_no_code_defines_is_not_triggered(key: str | None) -> None:
    make_job(name="old", retired_at=datetime(2026, 11, 1, 2, 3, 4, tzinfo=UTC), enabled=False)

    with pytest.raises(JobDefinitionError) as refused:
        trigger_job("old", Order(idempotency_key=key))

    assert str(refused.value) == (
        "The job 'old' is retired, no code has defined it since 2026-11-01 02:03:04 UTC, so no worker can run it."
    )
    assert not Run.objects.exists()


def test_a_retired_job_that_the_code_defines_again_wants_a_sync() -> None:
    job(name="back", kwargs={"warehouse": "main"})(report)
    make_job(name="back", source=Source.CODE, retired_at=now(), enabled=False)

    with pytest.raises(JobDefinitionError, match=r"This code defines it again: run sync_jobs first\.$"):
        trigger_job("back", Order(kwargs={"warehouse": "east"}))


def test_a_job_that_no_code_defines_is_not_backfilled() -> None:
    make_job(name="old", schedule="@every 1h", retired_at=now(), enabled=False)

    with pytest.raises(JobDefinitionError, match="no code has defined it since"):
        backfill_job("old", start=now() - timedelta(hours=3), end=now(), dry_run=True)
