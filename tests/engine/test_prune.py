from __future__ import annotations

from datetime import timedelta

import pytest

from django_leasejobs.conf import DEFAULT_RETENTION
from django_leasejobs.engine.outcomes import Raised
from django_leasejobs.engine.prune import prune_runs
from django_leasejobs.models import Attempt, Run, RunStatus
from tests.support.factories import make_run, now
from tests.support.rows import HOUR, claimed_run, end

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def ended(status: RunStatus = RunStatus.SUCCESSFUL, *, ago: timedelta) -> Run:
    return make_run(status=status, finished_at=now() - ago)


def left() -> set[int]:
    return set(Run.objects.values_list("pk", flat=True))


def test_only_what_is_past_the_retention_of_its_status_goes() -> None:
    ended(ago=2 * DAY)
    kept = {ended(ago=HOUR).pk, ended(RunStatus.FAILED, ago=2 * DAY).pk, ended(RunStatus.CANCELLED, ago=2 * DAY).pk}

    assert prune_runs({"SUCCESSFUL": DAY, "FAILED": 3 * DAY, "CANCELLED": None}) == 1
    assert left() == kept


def test_unfinished_runs_stay_however_old() -> None:
    long_ago = now() - 400 * DAY
    make_run(created_at=long_ago, available_at=long_ago)
    claimed_run(created_at=long_ago, available_at=long_ago - DAY)

    assert prune_runs(DEFAULT_RETENTION) == 0
    assert Run.objects.count() == 2


def test_every_finished_status_has_a_retention() -> None:
    for status in DEFAULT_RETENTION:
        ended(RunStatus(status), ago=31 * DAY)

    assert prune_runs(DEFAULT_RETENTION) == len(DEFAULT_RETENTION) == 5
    assert left() == set()


def test_a_prune_is_bounded_and_takes_the_oldest_first() -> None:
    newest, middle, oldest = (ended(ago=days * DAY) for days in (2, 3, 4))

    assert prune_runs({"SUCCESSFUL": DAY}, limit=2) == 2
    assert left() == {newest.pk}
    assert prune_runs({"SUCCESSFUL": DAY}, limit=2) == 1
    assert middle.pk not in left()
    assert oldest.pk not in left()


def test_the_bound_is_over_all_statuses_together() -> None:
    for status in (RunStatus.SUCCESSFUL, RunStatus.FAILED):
        ended(status, ago=2 * DAY)
        ended(status, ago=2 * DAY)

    assert prune_runs({"SUCCESSFUL": DAY, "FAILED": DAY}, limit=3) == 3
    assert Run.objects.count() == 1


def test_attempts_go_with_their_run() -> None:
    run = claimed_run()
    end(run, Raised("E"))
    Run.objects.update(finished_at=now() - 2 * DAY)
    kept = claimed_run()
    end(kept, Raised("E"))

    assert prune_runs({"FAILED": DAY}) == 1
    assert list(Attempt.objects.values_list("run_id", flat=True)) == [kept.run_id]


def test_a_retention_of_nothing_deletes_all_that_ended() -> None:
    ended(ago=timedelta(milliseconds=5))

    assert prune_runs({"SUCCESSFUL": timedelta(0)}) == 1


def test_no_retention_at_all_deletes_nothing() -> None:
    ended(ago=400 * DAY)

    assert prune_runs({}) == prune_runs({"SUCCESSFUL": None}) == 0
