"""What becomes of each entry of a crontab."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django_leasejobs.commands import command_task
from django_leasejobs.engine.import_jobs import NewJob, Placed, import_jobs
from django_leasejobs.exceptions import JobDefinitionError, ScheduleError
from django_leasejobs.policies.timing import Timing, check_timing
from django_leasejobs.schedules.command_lines import ManagementCommand, recognise_management_command
from django_leasejobs.schedules.crontab import Entry, EnvEntry, ErrorEntry, JobEntry

CREATED, UNCHANGED, USED, LEFT_OUT = "created", "unchanged", "used", "not carried over"
LONGEST_NAME = 180
INSTEAD_OF = {
    "MAILTO": "nothing is mailed; failures are kept with their output, and check_jobs tells of them",
    "MAILFROM": "nothing is mailed; failures are kept with their output, and check_jobs tells of them",
    "SHELL": "jobs need no shell",
    "TZ": "set it for the worker's service; for a job's schedule use CRON_TZ or --timezone",
}
SET_IT = "set it for the worker's service if a command needs it"


@dataclass(frozen=True, slots=True)
class Line:
    """An entry, what became of it, and why."""

    entry: Entry
    outcome: str
    reason: str
    job: str = ""


def import_entries(entries: Sequence[Entry], *, source: str, timezone: str, dry_run: bool) -> list[Line]:
    """Make jobs of those entries that run a management command which may run as a job; say what becomes of each.

    ``timezone`` is that of the lines without a CRON_TZ.
    """
    weighed = list(_weighed(entries, source, timezone))
    wanted = [(job, notes) for job, notes in weighed if isinstance(job, NewJob)]
    placed = iter(import_jobs([job for job, _ in wanted], dry_run=dry_run))
    lines = []
    for entry, (job, words) in zip(entries, weighed, strict=True):
        if isinstance(job, NewJob):
            lines.append(_placed_line(entry, job, next(placed), words))
        else:
            lines.append(Line(entry, job, words))
    return lines


def _weighed(entries: Sequence[Entry], source: str, timezone: str) -> Iterable[tuple[NewJob | str, str]]:
    """Return for each entry the job to be with what is to be said of it, or an outcome and its reason."""
    names: set[str] = set()
    for entry in entries:
        match entry:
            case EnvEntry(name="CRON_TZ"):
                yield USED, "the time zone of the lines below it"
            case EnvEntry(name=name):
                yield LEFT_OUT, INSTEAD_OF.get(name, SET_IT)
            case ErrorEntry(why=why):
                yield LEFT_OUT, why
            case JobEntry():
                try:
                    job, words = _new_job(entry, source, entry.tz or timezone, names)
                except (JobDefinitionError, ScheduleError) as error:
                    yield LEFT_OUT, str(error)
                else:
                    names.add(job.name)
                    yield job, words


def _new_job(entry: JobEntry, source: str, timezone: str, taken: Collection[str]) -> tuple[NewJob, str]:
    """Make the job of a line; raise JobDefinitionError or ScheduleError with what to do where there is none."""
    if entry.stdin is not None:
        raise JobDefinitionError(
            "what follows '%' would be its input, which a job has not; write it into the command or its arguments"
        )
    command = recognise_management_command(entry.command)
    if not isinstance(command, ManagementCommand):
        raise JobDefinitionError(command.reason)
    task = command_task(command.name)
    task.check_arguments(command.args, {})
    name = _free_name(" ".join([command.name, *command.args]), taken)
    schedule = check_timing(Timing(schedule=entry.expr, timezone=timezone), name=name)
    job = NewJob(
        name=name,
        task=task.name,
        args=command.args,
        schedule=entry.expr,
        timezone=timezone,
        description=f"From line {entry.line} of {source}: {entry.command}",
    )
    return job, "; ".join([schedule.describe(), *_notes(entry, command)])


def _notes(entry: JobEntry, command: ManagementCommand) -> Iterable[str]:
    """Name what of the line the job does without."""
    if entry.warning:
        yield entry.warning
    if entry.user:
        yield f"it runs as the worker's user, not as {entry.user!r}"
    if command.directory:
        yield f"it runs where the worker was started, not in {command.directory!r}"
    if command.environment:
        names = ", ".join(name for name, _ in command.environment)
        yield f"variables are the worker's; not set: {names}"
    if command.redirections:
        yield "what it prints is kept with the run"


def _free_name(text: str, taken: Collection[str]) -> str:
    """Name a job by its command; a second line with the same one gets a number."""
    wanted = "".join(sign if sign.isprintable() else " " for sign in text).strip()[:LONGEST_NAME].strip()
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted} ({number})"
    return name


def _placed_line(entry: Entry, job: NewJob, placed: Placed, words: str) -> Line:
    if placed.created:
        return Line(entry, CREATED, f"the job {placed.name!r}: {words}", placed.name)
    if placed.same:
        return Line(entry, UNCHANGED, f"the job {placed.name!r} does this already", placed.name)
    words = f"{placed.reason}; change that one, or give it another name and import again"
    return Line(entry, LEFT_OUT, words, placed.name)
