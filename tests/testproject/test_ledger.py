"""The demo's judgement on real rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.models import Run
from testproject.demo import setting_up
from testproject.demo.ledger import Ledger, Verdict
from testproject.demo.run import summary
from testproject.shop.models import Effect
from tests.support.factories import make_due_job, make_job, now

from .support import attempt, shop_run


@pytest.fixture
def judged(transactional_db: None) -> tuple[Ledger, datetime]:
    """A ledger over two jobs whose instants were planned, run and ended."""
    make_due_job(name="each", schedule="@every 1s", ago=timedelta(seconds=5), catch_up="all", overlap="allow")
    make_due_job(name="latest", schedule="@every 1s", ago=timedelta(seconds=5))
    make_job(name="by hand")
    ledger, until = Ledger(), now()
    ledger.enter()
    assert not ledger.is_settled(until)
    while plan_jobs().more:
        pass
    assert not ledger.is_settled(until)
    Run.objects.filter(finished_at=None).update(status="SUCCESSFUL", started_at=until, finished_at=until)
    assert ledger.is_settled(until)
    return ledger, until


def a_run(judged: tuple[Ledger, datetime]) -> Run:
    """Return a run in the middle of those that are judged."""
    return Run.objects.filter(job_name="each", scheduled_for__lt=judged[1] - timedelta(seconds=2)).latest(
        "scheduled_for"
    )


def verdict_of(judged: tuple[Ledger, datetime]) -> Verdict:
    ledger, until = judged
    return ledger.verdict(until)


def test_what_was_planned_and_run_is_right(judged: tuple[Ledger, datetime]) -> None:
    verdict = verdict_of(judged)
    assert verdict.is_good, (verdict.lost, verdict.doubled)
    assert verdict.instants.looked_at >= 10
    assert verdict.passed_over >= 4


def test_a_deleted_row_is_a_lost_instant(judged: tuple[Ledger, datetime]) -> None:
    run = a_run(judged)
    run.delete()
    verdict = verdict_of(judged)
    assert verdict.lost == (f"each: no row for {run.scheduled_for}",)
    assert not verdict.is_good


def test_a_row_of_an_instant_that_was_not_due_is_doubled(judged: tuple[Ledger, datetime]) -> None:
    run = a_run(judged)
    assert run.scheduled_for is not None
    run.pk, run.scheduled_for = None, run.scheduled_for - timedelta(milliseconds=500)
    run.save()
    verdict = verdict_of(judged)
    assert len(verdict.doubled) == 1
    assert not verdict.is_good


def test_a_failed_run_is_not_good(judged: tuple[Ledger, datetime]) -> None:
    Run.objects.filter(pk=a_run(judged).pk).update(status="FAILED")
    assert not verdict_of(judged).is_good


def test_the_effects_of_an_import_are_counted(data_dir: Path, transactional_db: None) -> None:
    setting_up.write_catalogue()
    ledger = Ledger()
    ledger.enter()
    run = attempt(shop_run("shop.import_catalogue"))
    assert run.status == "SUCCESSFUL", run.traceback
    assert ledger.verdict(now()).is_good
    second = Effect.objects.get(what="row 7")
    second.pk = None
    second.save()
    assert ledger.verdict(now()).doubled == (f"run {run.pk}: row 7 was done 2 times, not 1",)
    Effect.objects.filter(what="row 7").delete()
    assert ledger.verdict(now()).lost == (f"run {run.pk}: row 7 was never done",)


def test_the_summary_names_what_was_lost(judged: tuple[Ledger, datetime]) -> None:
    a_run(judged).delete()
    lines = summary(verdict_of(judged), 5.25)
    assert lines[0].startswith("LOST each: no row for ")
    assert lines[-1] == "Lost 1, doubled 0, recovered after 5.2 s."
