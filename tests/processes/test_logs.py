"""What is kept of a run's words, and what the worker says of it."""

from __future__ import annotations

import pytest

from django_leasejobs.models import Lease, RunStatus
from tests.support.processes import wait_until

from .support import now_of, postgres_stands_for_all, run_of, wait_for

pytestmark = [pytest.mark.processes, postgres_stands_for_all]

LIMIT = 64 * 1024


@pytest.mark.parametrize("pool", ["process", "thread"])
def test_a_run_keeps_its_log_lines_and_its_traceback_and_leaves_the_output_alone(fleet, pool):
    fine = run_of("t.talk", kwargs={"lines": 2})
    long = run_of("t.talk", kwargs={"lines": 5000, "fails": True})
    worker = fleet.start("--pool", pool)
    wait_for(fine)
    wait_for(long, RunStatus.FAILED)
    assert [line.partition(" INFO ")[2] for line in fine.log.splitlines()] == [
        "tests.jobs: line 0",
        "tests.jobs: line 1",
        "django_leasejobs.job: said by the context",
    ]
    assert worker.output.count("printed by the job\n") == 2
    assert len(long.log.encode()) <= LIMIT
    assert "line 0\n" in long.log
    assert "lines left out" in long.log
    assert long.log.endswith("said by the context")
    assert len(long.traceback.encode()) <= LIMIT
    assert long.traceback.rstrip().endswith("x" * 1000)
    assert 0 < len(long.error.encode()) <= 2000
    attempt = long.attempts.get()
    assert (attempt.log, attempt.traceback) == (long.log, long.traceback)


def test_the_worker_names_job_run_attempt_and_token_from_the_claim_to_the_end(fleet):
    run = run_of("t.die_first", kwargs={"times": 1})
    worker = fleet.start("--name", "anna")
    wait_for(run)
    first = run.attempts.get().token
    worker.wait_for_output("status=SUCCESSFUL")
    lines = [line.partition(" Run ")[2] for line in worker.output.splitlines() if " Run " in line]
    named = f"id={run.pk} job={run.job_name}"
    assert lines[0] == f"{named} claimed attempt=1 token={first} worker=anna"
    assert lines[1].startswith(f"{named} goes back to READY attempt=1 token={first} worker=anna")
    assert "its process died: exit code 9" in lines[1]
    assert lines[2] == f"{named} claimed attempt=2 token={run.token} worker=anna"
    assert lines[3] == f"{named} finished status=SUCCESSFUL attempt=2 token={run.token} worker=anna"
    assert run.token > first


@pytest.mark.parametrize("pool", ["process", "thread"])
def test_progress_shows_while_the_job_runs_and_its_result_afterwards(fleet, pool):
    run = run_of("t.progress", kwargs={"steps": 4, "seconds": 0.6})
    fleet.start("--pool", pool)
    wait_until(lambda: Lease.objects.filter(run=run, progress__done__gte=2).exists())
    wait_for(run)
    assert run.progress == {"done": 4, "total": 4, "message": "step 4"}
    assert run.result == {"steps": 4}


def test_a_job_that_exits_or_cannot_be_found_concerns_only_itself(fleet):
    exits = run_of("t.exit")
    unknown = run_of("t.of_a_later_version")
    worker = fleet.start()
    wait_for(exits, RunStatus.FAILED)
    assert exits.error == "SystemExit: 3"
    sleeps = run_of("t.async")
    assert wait_for(sleeps).result == "slept"
    assert now_of(unknown).status == RunStatus.READY
    assert "defect" not in worker.output
