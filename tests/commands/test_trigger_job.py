from __future__ import annotations

import getpass
import os
import re
import signal
from datetime import timedelta
from typing import Any

import pytest

from django_leasejobs import job
from django_leasejobs.engine.cancel import cancel_run
from django_leasejobs.models import Job, Run, RunStatus
from tests.commands.calling import Called, call
from tests.support.factories import NOOP, make_job, make_run, make_task, make_worker, noop
from tests.support.processes import WorkerProcesses, wait_until

FAST = ("--no-sync", "--poll-interval", "0.1", "--pool", "thread", "--concurrency", "2")


def add(first: int, second: int = 0) -> None:
    """Take arguments that can be got wrong."""


def only_run() -> Run:
    return Run.objects.get()


@pytest.mark.django_db
class TestWithoutWaiting:
    def test_it_makes_a_run_and_prints_its_id(self) -> None:
        make_task()
        make_worker()
        make_job(name="report", kwargs={"day": 1}, schedule="0 0 * * *")
        before = Job.objects.values().get()

        called = call("trigger_job", "report")

        run = only_run()
        assert called == Called(0, f"Run {run.pk} of report: READY\n")
        assert (run.status, run.origin, run.args, run.kwargs) == ("READY", "manual", [], {"day": 1})
        assert run.triggered_by == f"{getpass.getuser()} (trigger_job)"
        assert Job.objects.values().get() == before

    def test_an_account_without_a_name_triggers_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As in a container whose user id is in no password file."""
        for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setattr(os, "getuid", lambda: 2**31 - 5)
        make_job(name="report")

        assert call("trigger_job", "report").status == 0
        assert only_run().triggered_by == "trigger_job"

    def test_arguments_stand_in_for_the_jobs_own(self) -> None:
        make_task(func=add)
        make_job(name="sum", kwargs={"first": 1})

        call("trigger_job", "sum", "--args", "[1]", "--kwargs", '{"second": 2}')

        assert (only_run().args, only_run().kwargs) == ([1], {"second": 2})

    def test_a_run_that_no_worker_takes_is_pointed_out(self) -> None:
        make_job(name="report", queue="slow")
        make_worker(queues=["fast"])

        called = call("trigger_job", "report")

        assert called.status == 0
        assert called.err == (
            f"No running worker takes {NOOP!r} from the queue 'slow': the run waits."
            " Start one whose code has the task, or cancel the run.\n"
        )

    def test_a_run_beside_another_is_skipped_and_that_is_a_failure(self) -> None:
        make_run(make_job(name="report"))

        called = call("trigger_job", "report", "--wait")

        skipped = Run.objects.latest("pk")
        assert called == Called(
            1, f"Run {skipped.pk} of report: SKIPPED: the previous run was still waiting to start\n"
        )

    def test_waiting_ends_with_the_timeout_and_the_run_stays(self) -> None:
        make_task()
        make_worker()
        make_job(name="report")

        called = call("trigger_job", "report", "--wait", "--timeout", "0.1")

        run = only_run()
        assert (called.status, called.err) == (1, f"Run {run.pk} of report is still READY after 0.1 s.")
        assert run.status == RunStatus.READY


@pytest.mark.django_db
class TestRefusals:
    def test_an_unknown_job_names_the_close_ones(self) -> None:
        for name in ("stock.report", "stock.reports", "mail"):
            make_job(name=name)

        called = call("trigger_job", "stock.repotr")

        assert called == Called(
            1,
            "",
            "There is no job named 'stock.repotr' in the job table. Did you mean 'stock.report' or 'stock.reports'?",
        )

    def test_an_unknown_job_without_close_ones_names_the_list(self) -> None:
        called = call("trigger_job", "nothing")

        assert called == Called(1, "", "There is no job named 'nothing' in the job table. See list_jobs for the names.")

    def test_a_job_of_the_code_that_is_not_synced_says_so(self) -> None:
        job(name="fresh")(noop)

        called = call("trigger_job", "fresh")

        assert called == Called(
            1, "", "There is no job named 'fresh' in the job table. The code defines it: run sync_jobs first."
        )

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--kwargs", "{first: 1}"], r"--kwargs '\{first: 1\}' is not JSON: .*Give an object such as"),
            (["--kwargs", ""], "--kwargs '' is not JSON"),
            (["--kwargs", "[1]"], r"--kwargs '\[1\]' is JSON, but not an object such as"),
            (["--kwargs", "null"], "--kwargs 'null' is JSON, but not an object such as"),
            (["--kwargs", "[" * 100_000], "is not JSON"),
            (["--args", '{"a": 1}'], "is JSON, but not an array such as"),
            (["--kwargs", '{"first": 1, "third": 1}'], r"don't fit 'sum' \(first.*: .*'third'"),
            (["--kwargs", "{}"], "don't fit 'sum' .*: missing a required argument: 'first'"),
            (["--args", "[1, 2, 3]", "--kwargs", "{}"], "don't fit 'sum' .*: too many positional arguments"),
            (["--kwargs", '{"first": NaN}'], "can't be stored as JSON"),
            (["--kwargs", r'{"first": "\u0000"}'], "NUL character"),
            (["--wait", "--timeout", "soon"], "--timeout: 'soon' is not a length of time"),
            (["--wait", "--timeout", "-1"], "--timeout"),
        ],
    )
    def test_bad_input_makes_no_run(self, arguments: list[str], words: str) -> None:
        make_task("sum", add)
        make_job(name="sum", task="sum", kwargs={"first": 1})

        called = call("trigger_job", "sum", *arguments)

        assert (called.status, called.out) == (1, "")
        assert re.search(words, called.err)
        assert not Run.objects.exists()

    def test_arguments_of_a_task_of_other_code_must_at_least_be_storable(self) -> None:
        make_job(name="theirs", task="theirs")

        assert "NUL character" in call("trigger_job", "theirs", "--kwargs", r'{"a": "\u0000"}').err
        assert call("trigger_job", "theirs", "--kwargs", '{"whatever": 1}').status == 0

    def test_a_name_that_is_no_text_is_no_job(self) -> None:
        """What the shell hands over for bytes that are no UTF-8."""
        called = call("trigger_job", "caf\udce9")

        assert (called.status, called.out) == (1, "")
        assert called.err.startswith("Some text can't be looked up or printed: 'utf-8' codec can't encode")


@pytest.mark.processes
class TestWithAWorker:
    @pytest.fixture(autouse=True)
    def _worker(self, workers: WorkerProcesses) -> None:
        self.workers = workers
        workers.start(*FAST)

    def trigger(self, task: str, **values: Any) -> tuple[Run, Called]:
        make_job(name="it", task=task, **values)
        called = call("trigger_job", "it", "--wait", "--timeout", "30")
        return only_run(), called

    def test_waiting_for_a_success_prints_it_and_its_result(self) -> None:
        run, called = self.trigger("t.async", kwargs={"seconds": 0.3})

        assert (called.status, called.err) == (0, "")
        # A quick worker may have taken it up before the first look.
        assert re.match(rf"Run {run.pk} of it: (READY$|RUNNING on )", called.lines[0])
        assert re.fullmatch(rf"Run {run.pk} of it: SUCCESSFUL after \d+m?s, attempt 1", called.lines[-2])
        assert called.lines[-1] == 'Result: "slept"'

    def test_waiting_for_a_failure_prints_why_and_exits_1(self) -> None:
        run, called = self.trigger("t.fail", retries=1, backoff=timedelta(seconds=0.1))

        assert called.status == 1
        assert re.fullmatch(rf"Run {run.pk} of it: FAILED after \d+m?s, attempt 2: .+", called.lines[-2])
        assert called.lines[-1] == "Error: RuntimeError: it failed on purpose"

    def test_waiting_for_a_run_that_somebody_cancels_exits_1(self) -> None:
        make_job(name="it", task="t.polite", kwargs={"seconds": 60}, lease=timedelta(seconds=2))
        command = self.workers.command("trigger_job", "it", "--wait")
        command.wait_for_output("RUNNING on ")

        cancel_run(only_run().pk, reason="not today")

        assert command.wait() == 1
        assert re.search(r": CANCELLED after \d+m?s, attempt 1: not today\n$", command.output)

    def test_an_interrupt_ends_the_waiting_and_not_the_run(self) -> None:
        make_job(name="it", task="t.polite", kwargs={"seconds": 60})
        command = self.workers.command("trigger_job", "it", "--wait")
        command.wait_for_output("RUNNING on ")

        command.signal(signal.SIGINT)

        assert command.wait() == 130
        assert command.output.endswith("CommandError: Interrupted.\n")
        assert only_run().status == RunStatus.RUNNING

    def test_a_run_that_is_deleted_meanwhile_has_no_outcome(self) -> None:
        make_job(name="it", task="of no worker")
        command = self.workers.command("trigger_job", "it", "--wait")
        run = wait_until(Run.objects.first)
        command.wait_for_output("READY")

        Run.objects.all().delete()

        assert command.wait() == 1
        assert command.output.endswith(f"Run {run.pk} was deleted, so its outcome is not known.\n")
