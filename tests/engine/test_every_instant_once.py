"""I2 under everything that people do to a job: each due instant has exactly one row, and no other instant has any."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from django.db.models import F

from django_leasejobs.engine.backfill import backfill_job
from django_leasejobs.engine.edit import save_job, set_enabled
from django_leasejobs.engine.pause import pause_job, resume_job
from django_leasejobs.engine.plan import plan_jobs
from django_leasejobs.models import Job, Run
from tests.support.factories import NOOP
from tests.support.planning import MINUTE, plan_all, this_minute

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("within_a_minute")]

FAR = 10_000_000 * MINUTE
MOMENTS = {
    Job: ("next_run_at", "planned_until", "paused_at"),
    Run: ("scheduled_for", "scheduled_until", "available_at", "start_before", "created_at", "finished_at"),
}


class Life:
    """A minutely job, what happens to it, and which of its instants (minutes since it was made) must have a row."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.minute = 0
        self.must: set[int] = set()
        self.forgotten_until = 0
        job = Job(name="busy", task=NOOP, schedule="* * * * *", timezone="UTC")
        job.overlap = random.choice(["skip", "queue", "allow", "replace"])
        job.catch_up = random.choice(["latest", "all", "none"])
        job.start_deadline = random.choice([None, 3 * MINUTE])
        self.job = save_job(job)

    @property
    def row(self) -> Job:
        return Job.objects.get(pk=self.job.pk)

    def at(self, minute: int):
        return this_minute() + (minute - self.minute) * MINUTE

    def time_passes(self) -> None:
        minutes = self.random.choice([1, 1, 2, 7, 130])
        for model, columns in MOMENTS.items():
            for shift in (FAR, -FAR - minutes * MINUTE):  # by way of a far place, as no two may meet on the way
                model.objects.update(**{column: F(column) + shift for column in columns})
        if self.row.active:
            self.must |= set(range(self.minute + 1, self.minute + minutes + 1))
        self.minute += minutes

    def planned(self) -> None:
        plan_jobs()

    def paused(self) -> None:
        if pause_job(self.job.pk, by="anna", reason=""):
            self.forgotten_until = self.minute

    def resumed(self) -> None:
        catch_up = self.random.random() < 0.5
        if resume_job(self.job.pk, catch_up=catch_up) and catch_up and self.row.enabled:
            self.must |= set(range(self.forgotten_until + 1, self.minute + 1))

    def switched(self) -> None:
        set_enabled([self.job.pk], not self.row.enabled)
        self.forgotten_until = self.minute

    def edited(self) -> None:
        job = self.row
        job.timezone = "Etc/UTC" if job.timezone == "UTC" else "UTC"
        save_job(job)
        self.forgotten_until = self.minute

    def backfilled(self) -> None:
        last = self.minute - self.random.randrange(5)
        first = max(1, last - self.random.randrange(20))
        if first <= last:
            filled = backfill_job("busy", start=self.at(first), end=self.at(last))
            self.must |= {self.minute - (this_minute() - instant) // MINUTE for instant in filled.instants}
            assert filled.unclear == 0

    def recorded(self) -> list[int]:
        """List the minutes that rows stand for; what a row counts is all of its span but the rows within it."""
        rows = list(Run.objects.order_by("scheduled_for"))
        minutes = {run.pk: self.minute - (this_minute() - run.scheduled_for) // MINUTE for run in rows}
        found = [minutes[run.pk] for run in rows if run.instants == 1]
        single = set(found)
        for run in rows:
            if run.instants > 1:
                length = (run.scheduled_until - run.scheduled_for) // MINUTE + 1
                own = set(range(minutes[run.pk], minutes[run.pk] + length)) - single
                assert len(own) == run.instants
                found += own
        return sorted(found)


@pytest.mark.parametrize("seed", range(25))
def test_each_due_instant_has_one_row_whatever_is_done_to_the_job(seed: int) -> None:
    random = Random(seed)
    life = Life(random)
    acts = [life.time_passes, life.planned, life.paused, life.resumed, life.switched, life.edited, life.backfilled]

    for _ in range(40):
        random.choices(acts, weights=[5, 3, 1, 2, 1, 1, 2])[0]()
        assert set(life.recorded()) <= life.must
    plan_all()

    assert life.recorded() == sorted(life.must)
    assert len(life.must) > 5


def test_a_history_has_no_gap_when_nothing_is_done_to_the_job() -> None:
    life = Life(Random(1))
    for _ in range(10):
        life.time_passes()
        life.planned()

    assert life.recorded() == list(range(1, life.minute + 1))
    assert timedelta(0) < life.row.next_run_at - this_minute() <= MINUTE
