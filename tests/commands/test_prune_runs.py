from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from django_leasejobs.management.commands import prune_runs
from django_leasejobs.models import Attempt, Run
from tests.commands.calling import Called, call
from tests.support.factories import make_run, now

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
RETENTION = {"SUCCESSFUL": "1d", "FAILED": "10d", "CANCELLED": None}


@pytest.fixture(autouse=True)
def _retention(settings: Any) -> None:
    settings.LEASEJOBS = {"RETENTION": RETENTION}


def ended(status: str, age: timedelta) -> Run:
    return make_run(status=status, finished_at=now() - age)


def test_what_is_past_its_retention_goes_and_is_counted() -> None:
    gone = ended("FAILED", 11 * DAY)
    Attempt.objects.create(run=gone, token=1, number=1, outcome="failed", started_at=now(), ended_at=now())
    ended("SUCCESSFUL", 2 * DAY)
    kept = [
        ended("SUCCESSFUL", DAY / 2),
        ended("FAILED", 9 * DAY),
        ended("CANCELLED", 1000 * DAY),
        make_run(created_at=now() - 1000 * DAY, available_at=now() - 1000 * DAY),
    ]

    assert call("prune_runs") == Called(0, "2 runs deleted.\n")
    assert sorted(Run.objects.values_list("pk", flat=True)) == [run.pk for run in kept]
    assert not Attempt.objects.exists()


def test_nothing_old_is_no_error() -> None:
    assert call("prune_runs") == Called(0, "0 runs deleted.\n")


def test_batches_go_on_till_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune_runs, "BATCH", 3)
    for _ in range(7):
        ended("SUCCESSFUL", 2 * DAY)

    assert call("prune_runs") == Called(0, "7 runs deleted.\n")
    assert not Run.objects.exists()


def test_a_dry_run_counts_and_deletes_nothing() -> None:
    for _ in range(2):
        ended("SUCCESSFUL", 2 * DAY)
    ended("SUCCESSFUL", DAY / 2)
    ended("CANCELLED", 1000 * DAY)
    ended("SKIPPED", 30 * DAY)

    called = call("prune_runs", "--dry-run")

    assert called.status == 0
    assert [re.split(r" {2,}", line) for line in called.lines] == [
        ["STATUS", "KEPT", "TO DELETE"],
        ["SUCCESSFUL", "1d", "2"],
        ["FAILED", "10d", "0"],
        ["CANCELLED", "for ever", "0"],
        ["MISSED", "30d", "0"],
        ["SKIPPED", "7d", "1"],
        ["3 runs would be deleted."],
    ]
    assert Run.objects.count() == 5


def test_what_a_dry_run_counts_is_what_goes() -> None:
    for status in ("SUCCESSFUL", "FAILED", "MISSED", "SKIPPED", "CANCELLED"):
        ended(status, 31 * DAY)

    assert call("prune_runs", "--dry-run").lines[-1] == "4 runs would be deleted."
    assert call("prune_runs").lines == ["4 runs deleted."]
