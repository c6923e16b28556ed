"""The options of ``run_job_worker``, and what it says to bad input."""

from __future__ import annotations

import time

import pytest
from django.core.management import CommandError, call_command

from django_leasejobs.models import Job, Run, RunStatus, Worker
from tests.support.factories import make_due_job, now
from tests.support.processes import wait_until

from .support import job_of, now_of, postgres_stands_for_all, run_of, wait_for

pytestmark = [pytest.mark.processes, postgres_stands_for_all]

NO_SERVER = "postgres://nobody:secret@127.0.0.1:1/nothing"


def refused(process, *words, status=None):
    """Check that a command ends with an error that says all these words, and with no traceback."""
    code = process.wait(20)
    assert code != 0 if status is None else code == status, process.output
    assert "Traceback" not in process.output
    for word in words:
        assert word in process.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--concurrency", "0"], ["--concurrency 0", "at least 1"]),
        (["--concurrency", "many"], ["--concurrency", "many"]),
        (["--pool", "fibre"], ["--pool", "fibre", "process"]),
        (["--poll-interval", "0"], ["--poll-interval '0'", "at least 0.01 s"]),
        (["--poll-interval", "soon"], ["--poll-interval", "soon"]),
        (["--max-runs", "-1"], ["--max-runs -1", "at least 1"]),
        (["--shutdown-timeout", "-5"], ["--shutdown-timeout", "-5"]),
        (["--queue", "nowhere"], ["'nowhere'", "Queues in use: default"]),
        (["--queue", ""], ["''"]),
        (["--name", ""], ["--name"]),
        (["--name", "x" * 201], ["--name", "200"]),
        (["--nonsense"], ["--nonsense"]),
    ],
)
def test_a_bad_option_is_refused_with_a_clear_message(transactional_db, options, words):
    with pytest.raises(CommandError) as refusal:
        call_command("run_job_worker", "--no-sync", *options)
    for word in words:
        assert word in str(refusal.value)


@pytest.mark.parametrize(("options", "word"), [(["--pool", "fibre"], "fibre"), (["--queue", "nowhere"], "'nowhere'")])
def test_a_refusal_is_a_line_and_an_exit_status(fleet, options, word):
    refused(fleet.command("run_job_worker", *options), word)


def test_a_senseless_lease_is_refused_before_anything_is_claimed(fleet):
    run = run_of("t.effect")
    leases = ["0", "-3", "nan", "soon"]
    for lease, process in [(lease, fleet.command("run_job_worker", SHOP_LEASE=lease)) for lease in leases]:
        refused(process, "leasejobs.E001", f"LEASEJOBS['LEASE'] = '{lease}'")
    assert now_of(run).status == RunStatus.READY


def test_a_database_that_is_not_there_is_named(fleet):
    refused(fleet.command("run_job_worker", DATABASE_URL=NO_SERVER), "'default' can't be reached", "refused")


def test_an_unmigrated_database_is_told_with_the_missing_migration(fleet, tmp_path):
    url = f"sqlite:///{tmp_path / 'empty.sqlite3'}"
    refused(fleet.command("run_job_worker", DATABASE_URL=url), "leasejobs.0001_initial", "manage.py migrate leasejobs")


HEAD = "from datetime import datetime\nfrom django_leasejobs import command_job, job\n"
BAD_DEFINITIONS = {
    "duplicate": (
        "@job()\ndef one(): ...\n@job(name='duplicate.one')\ndef two(): ...\n",
        "Two tasks are named 'duplicate.one': duplicate.jobs.one and duplicate.jobs.two",
    ),
    "redefined": ("@job()\ndef one(): ...\n@job()\ndef one(): ...\n", "Two tasks are named 'redefined.one'"),
    "twice": ("def one(): ...\njob('@daily')(one)\njob('@hourly')(one)\n", "Two jobs of twice.jobs.one are named"),
    "nameless": ("one = job()(lambda: None)\n", "module level"),
    "nested": ("def make():\n    @job()\n    def inner(): ...\nmake()\n", "make.<locals>.inner can't be a job"),
    "not_json": ("@job(kwargs={'when': datetime.now})\ndef one(when): ...\n", "can't be stored as JSON"),
    "not_a_list": ("@job(args=5)\ndef one(n): ...\n", "Job 'not_a_list.one': args=5"),
    "not_a_dict": ("@job(kwargs=[1])\ndef one(n): ...\n", "Job 'not_a_dict.one': kwargs=[1]"),
    "too_many": ("@job(args=[1, 2])\ndef one(n): ...\n", "don't fit 'too_many.one'"),
    "minute": ("@job('61 * * * *')\ndef one(): ...\n", "job 'minute.one': '61 * * * *'"),
    "number": ("@job(5)\ndef one(): ...\n", "Job 'number.one': schedule=5"),
    "zone": ("@job('0 1 * * *', timezone='America')\ndef one(): ...\n", "America"),
    "no_zone": ("@job('0 1 * * *', timezone=None)\ndef one(): ...\n", "None"),
    "unknown": ("@job(retry=3)\ndef one(): ...\n", "no option 'retry'"),
    "other_command": ("command_job('flush')\n", "'flush' may not run as a job"),
    "option": ("command_job('clearsessions', args=['--dayz'])\n", "'clearsessions': unrecognized arguments: --dayz."),
    "soon": ("@job(lease='soon')\ndef one(): ...\n", "Job 'soon.one': lease='soon'"),
}


def write_apps(folder, definitions):
    """Write an app for each definition; return the environment that installs them."""
    for name, code in definitions.items():
        (folder / name).mkdir()
        (folder / name / "__init__.py").touch()
        (folder / name / "jobs.py").write_text(HEAD + code)
    return {"TESTS_APPS": ",".join(definitions), "PYTHONPATH": str(folder)}


def test_all_definitions_that_cannot_work_are_told_with_their_places(fleet, tmp_path):
    environment = write_apps(tmp_path, {name: code for name, (code, _) in BAD_DEFINITIONS.items()})
    process = fleet.command("run_job_worker", **environment)
    refused(process)
    told = process.output.replace("\n", " ")
    for name, (_, words) in BAD_DEFINITIONS.items():
        assert f"{tmp_path / name / 'jobs.py'}:" in told
        assert words in told
    assert told.count("leasejobs.E005") == len(BAD_DEFINITIONS)


def test_a_jobs_module_that_the_models_import_may_define_command_jobs(fleet, tmp_path):
    environment = write_apps(tmp_path, {"early": "command_job('clearsessions', name='early')\n"})
    (tmp_path / "early" / "models.py").write_text("from . import jobs\n")
    process = fleet.command("check", **environment)
    assert process.wait(20) == 0, process.output


def test_every_command_tells_of_a_broken_definition_and_none_retires_jobs_over_it(fleet, tmp_path):
    environment = write_apps(tmp_path, {"broken": "@job('nonsense')\ndef one(): ...\n"})
    commands = [["check"], ["sync_jobs"], ["list_jobs"], ["run_job_worker", "--skip-checks"]]
    for process in [fleet.command(*command, **environment) for command in commands]:
        refused(process, "broken.one", "jobs.py:")


def test_drain_does_all_that_is_due_and_exits(fleet):
    job = make_due_job(task="t.effect", schedule="@every 1h")
    retried = run_of("t.die_first", kwargs={"times": 1})
    later = run_of("t.effect", available_at=now().replace(year=now().year + 1))
    runs = [run_of("t.effect") for _ in range(5)]
    worker = fleet.start("--drain", wait=False)
    assert worker.wait(20) == 0, worker.output
    assert {now_of(run).status for run in [*runs, retried]} == {RunStatus.SUCCESSFUL}
    assert now_of(later).status == RunStatus.READY
    assert Run.objects.get(job=job).status == RunStatus.SUCCESSFUL
    assert not Worker.objects.exists()


@pytest.mark.parametrize("pool", ["process", "thread"])
def test_max_runs_ends_the_worker_after_as_many_runs(fleet, pool):
    runs = [run_of("t.effect") for _ in range(5)]
    worker = fleet.start("--max-runs", "3", "--pool", pool, wait=False)
    assert worker.wait(20) == 0, worker.output
    assert sorted(now_of(run).status for run in runs) == ["READY"] * 2 + ["SUCCESSFUL"] * 3


def test_only_the_given_queues_are_served(fleet):
    runs = {queue: run_of("t.effect", job=job_of("t.effect", queue=queue), queue=queue) for queue in ("a", "b", "c")}
    worker = fleet.start("--queue", "a", "--queue", "b", "--drain", wait=False)
    assert worker.wait(20) == 0, worker.output
    assert [now_of(run).status for run in runs.values()] == ["SUCCESSFUL", "SUCCESSFUL", "READY"]


def test_a_worker_that_does_not_schedule_only_claims(fleet):
    job = make_due_job(task="t.effect", schedule="@every 1s")
    run = run_of("t.effect")
    worker = fleet.start("--no-schedule", "--drain", wait=False)
    assert worker.wait(20) == 0, worker.output
    assert now_of(run).status == RunStatus.SUCCESSFUL
    assert not Run.objects.filter(job=job).exists()


def test_the_job_table_is_synced_unless_it_is_left_alone(fleet, workers):
    left = fleet.start("--drain", wait=False)
    assert left.wait(20) == 0, left.output
    assert not Job.objects.exists()
    synced = workers.start("--max-runs", "1", "--no-schedule")
    wait_until(Job.objects.exists)
    assert "Jobs synced created=" in synced.output


def test_a_worker_goes_by_its_name_and_uses_its_pool_and_concurrency(fleet):
    runs = [run_of("t.starts", kwargs={"seconds": 1}) for _ in range(3)]
    worker = fleet.start("--name", "anna", "--pool", "thread", concurrency=2)
    wait_until(lambda: Run.objects.filter(status=RunStatus.RUNNING).count() == 2, 20, lambda: worker.output)
    row = Worker.objects.get()
    assert (row.name, row.pool, row.concurrency, row.pid) == ("anna", "thread", 2, worker.pid)
    for run in runs:
        assert wait_for(run).worker_name == "anna"
    assert worker.output.count("worker=anna") == 6


def test_a_long_poll_interval_costs_no_time_where_the_next_instant_is_known(fleet):
    due_at = now().replace(microsecond=0)
    job = make_due_job(task="t.effect", schedule="@every 2s", next_run_at=due_at)
    fleet.start("--poll-interval", "60")
    wait_until(lambda: Run.objects.filter(job=job, status=RunStatus.SUCCESSFUL).count() >= 3, 15)
    for run in Run.objects.filter(job=job, status=RunStatus.SUCCESSFUL).order_by("scheduled_for")[1:]:
        assert (run.started_at - run.scheduled_for).total_seconds() < 0.5


def test_a_trigger_wakes_a_worker_with_a_long_poll_interval_at_once(fleet):
    job = job_of("t.effect", name="woken")
    worker = fleet.start("--poll-interval", "60")
    wait_until(lambda: Worker.objects.exists())
    time.sleep(0.5)
    triggered = fleet.command("trigger_job", "woken")
    assert triggered.wait(20) == 0, triggered.output
    run = wait_until(lambda: Run.objects.filter(job=job).first())
    wait_for(run, timeout=5)
    assert (run.started_at - run.created_at).total_seconds() < 0.3, worker.output


def test_without_notify_the_poll_finds_a_triggered_run(fleet):
    worker = fleet.start("--poll-interval", "1", TESTS_NOTIFY="0")
    time.sleep(0.3)
    run = run_of("t.effect")
    wait_for(run, timeout=5)
    assert (run.started_at - run.created_at).total_seconds() < 1.5, worker.output
