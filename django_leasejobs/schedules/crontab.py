"""Crontab files, line by line: what each line says, or why it can't be used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from django_leasejobs.exceptions import ScheduleError
from django_leasejobs.schedules.parsing import parse
from django_leasejobs.schedules.zones import zone


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvEntry:
    """A variable set for the lines below it; its value is not expanded, as cron does not either."""

    line: int
    kind: Literal["env"] = "env"
    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEntry:
    """A schedule with its command. ``tz`` is the CRON_TZ in force, ``stdin`` what followed a bare ``%``."""

    line: int
    kind: Literal["job"] = "job"
    expr: str
    user: str | None
    tz: str | None
    command: str
    stdin: str | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEntry:
    """A line that means nothing usable, and why."""

    line: int
    kind: Literal["error"] = "error"
    text: str
    why: str


Entry = EnvEntry | JobEntry | ErrorEntry

_ENV = re.compile(r"""(?P<quote>["']?)(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P=quote)[ \t]*=[ \t]*(?P<value>.*)""", re.ASCII)
_JOB = re.compile(r"(?P<expr>@\S*|\S+(?:[ \t]+\S+){4})(?:[ \t]+(?P<rest>.*))?", re.DOTALL)
_SYSTEM_REST = re.compile(r"(?P<user>\S+)[ \t]+(?P<command>.*)", re.DOTALL)
_ESCAPED_OR_PERCENT = re.compile(r"\\.|%", re.DOTALL)


def read_crontab(text: str, *, system: bool = False) -> list[Entry]:
    """Return an entry for each line of a crontab that is neither blank nor a comment.

    ``system``: the file has a user column, as /etc/crontab and /etc/cron.d do. A byte order mark and CR LF
    line ends are let pass. Nothing is raised: a line that can't be used becomes an ErrorEntry.
    """
    return list(_entries(text.removeprefix("\N{BYTE ORDER MARK}"), system))


def entry_fields(entry: Entry) -> dict[str, object]:
    """Return an entry as a plain dict, without the optional fields that it does not have."""
    fields = asdict(entry)
    return {key: value for key, value in fields.items() if value is not None or key in ("user", "tz")}


def _entries(text: str, system: bool) -> Iterator[Entry]:
    timezone: str | None = None
    bad_zone: str | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip("\r").strip(" \t")
        if not line or line.startswith("#"):
            continue
        match = _ENV.fullmatch(line)
        if match is None:
            yield _job(number, line, system=system, timezone=timezone, bad_zone=bad_zone)
            continue
        name, value = match["name"], _unquoted(match["value"])
        if name == "CRON_TZ":
            timezone, bad_zone = value or None, _zone_fault(value)
            if bad_zone:
                yield ErrorEntry(line=number, text=line, why=bad_zone)
                continue
        yield EnvEntry(line=number, name=name, value=value)


def _zone_fault(name: str) -> str | None:
    """Say what is wrong with a CRON_TZ; an empty one stands for the default zone again."""
    try:
        if name:
            zone(name)
    except ScheduleError as error:
        return str(error)
    return None


def _job(number: int, line: str, *, system: bool, timezone: str | None, bad_zone: str | None) -> JobEntry | ErrorEntry:
    def error(why: str) -> ErrorEntry:
        return ErrorEntry(line=number, text=line, why=why)

    match = _JOB.fullmatch(line)
    if match is None:
        return error("neither NAME=value nor five time fields and a command")
    expr = " ".join(match["expr"].split())
    if expr in ("@every", "@at"):
        return error(f"{expr!r} is not crontab syntax; give the job this schedule in code or in the admin")
    try:
        parse(expr)
        if bad_zone:
            return error(f"its CRON_TZ can't be used: {bad_zone}")
        parse(expr, timezone or "UTC")
    except ScheduleError as fault:
        return error(str(fault))
    user, rest = None, match["rest"] or ""
    if system:
        columns = _SYSTEM_REST.fullmatch(rest)
        if columns is None:
            return error("no command: in a system crontab a user comes before it")
        user, rest = columns["user"], columns["command"]
    command, stdin = _split_at_percent(rest)
    if not command:
        return error("no command after the time fields")
    return JobEntry(
        line=number,
        expr=expr,
        user=user,
        tz=timezone,
        command=command,
        stdin=stdin,
        warning=_warning(command, stdin),
    )


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _split_at_percent(text: str) -> tuple[str, str | None]:
    r"""End the command at the first bare ``%``; later ones are newlines of its input, ``\%`` is a percent."""
    for match in _ESCAPED_OR_PERCENT.finditer(text):
        if match[0] == "%":
            stdin = re.sub(r"\\?%", lambda sign: "\n" if sign[0] == "%" else "%", text[match.end() :])
            return _without_escapes(text[: match.start()]), stdin
    return _without_escapes(text), None


def _without_escapes(command: str) -> str:
    return re.sub(r"\\.", lambda pair: "%" if pair[0] == r"\%" else pair[0], command, flags=re.DOTALL)


def _warning(command: str, stdin: str | None) -> str | None:
    if stdin is not None and (command.count('"') % 2 or command.count("'") % 2):
        return r"a bare % ends the command, in quotes too, and leaves this one open; \% was probably meant"
    if command.startswith("* "):
        return "the command begins with '*': are these six time fields?"
    return None
