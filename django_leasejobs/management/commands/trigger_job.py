from __future__ import annotations

import getpass
import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from django_leasejobs.durations import rough_duration
from django_leasejobs.engine.jobs import find_job
from django_leasejobs.engine.overview import RunOverview, has_a_worker, look_at_run
from django_leasejobs.engine.trigger import Order, trigger_job
from django_leasejobs.management.instants import read_seconds
from django_leasejobs.management.output import JobsCommand
from django_leasejobs.models import RunStatus
from django_leasejobs.texts import printable

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


class Command(JobsCommand):
    help = "Runs a job now, on one of the workers, whatever its schedule says."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The job's name; see list_jobs.")
        parser.add_argument("--kwargs", dest="job_kwargs", metavar="JSON", help="Keyword arguments, as a JSON object.")
        parser.add_argument("--args", dest="job_args", metavar="JSON", help="Arguments, as a JSON array.")
        parser.add_argument(
            "--wait", action="store_true", help="Follow the run; exit 0 if it is SUCCESSFUL, 1 if it ended otherwise."
        )
        parser.add_argument("--timeout", metavar="S", help="Wait no longer than this; the run goes on (exit status 1).")

    def run(self, options: dict[str, Any]) -> int:
        timeout = None if options["timeout"] is None else read_seconds("--timeout", options["timeout"])
        args = _read("--args", options["job_args"], list, "an array such as '[1, 2]'")
        kwargs = _read("--kwargs", options["job_kwargs"], dict, """an object such as '{"day": 1}'""")
        job = find_job(options["name"])
        run_id = trigger_job(job.name, Order(args=args, kwargs=kwargs, triggered_by=_who())).pk
        run = _seen(run_id)
        self._tell(run)
        if not run.finished and not has_a_worker(task=job.task, queue=job.queue):
            self.stderr.write(
                f"No running worker takes {job.task!r} from the queue {job.queue!r}: the run waits."
                " Start one whose code has the task, or cancel the run."
            )
        if options["wait"]:
            run = self._follow(run, timeout)
        return 1 if run.finished and run.status != RunStatus.SUCCESSFUL else 0

    def _follow(self, run: RunOverview, timeout: float | None) -> RunOverview:
        """Look again and again, telling each change, until the run has ended."""
        started, pause = time.monotonic(), FIRST_PAUSE
        while not run.finished:
            if timeout is not None and time.monotonic() - started >= timeout:
                raise CommandError(f"Run {run.id} of {run.job_name} is still {run.status} after {timeout:g} s.")
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)
            before, run = run, _seen(run.id)
            if (run.status, run.attempt) != (before.status, before.attempt):
                self._tell(run)
        return run

    def _tell(self, run: RunOverview) -> None:
        words = f"Run {run.id} of {run.job_name}: {run.status}"
        if run.status == RunStatus.RUNNING:
            words += f" on {run.worker_name}, attempt {run.attempt}"
        elif run.finished_at is not None and run.started_at is not None:
            words += f" after {rough_duration(run.finished_at - run.started_at)}, attempt {run.attempt}"
        self.stdout.write(printable(f"{words}: {run.reason}" if run.reason else words))
        if run.error:
            self.stdout.write(f"Error: {printable(run.error)}")
        if run.status == RunStatus.SUCCESSFUL and run.result is not None:
            self.stdout.write(f"Result: {json.dumps(run.result)}")


def _seen(run_id: int) -> RunOverview:
    run = look_at_run(run_id)
    if run is None:
        raise CommandError(f"Run {run_id} was deleted, so its outcome is not known.")
    return run


def _read(option: str, text: str | None, kind: type, example: str) -> Any:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{option} {text!r} is not JSON: {error}. Give {example}.") from None
    if not isinstance(value, kind):
        raise CommandError(f"{option} {text!r} is JSON, but not {example}.")
    return value


def _who() -> str:
    try:
        return f"{getpass.getuser()} (trigger_job)"
    except (ImportError, KeyError, OSError):
        return "trigger_job"
