"""What is triggered beside overlap and keys: the arguments of one run."""

from __future__ import annotations

from typing import Any

import pytest

from django_leasejobs.engine.trigger import Order, trigger_job
from django_leasejobs.exceptions import JobDefinitionError
from django_leasejobs.models import Run
from tests.support.factories import make_job, make_task

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
