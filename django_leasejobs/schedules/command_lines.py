"""Shell lines that run one management command: which command with which arguments, or what to do instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagementCommand:
    """A management command with its arguments, and what of the line is not part of it."""

    name: str
    args: tuple[str, ...] = ()
    directory: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    redirections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """A line that is not one management command; ``reason`` says why and what to do."""

    reason: str


class _NotOneCommand(Exception):
    """Carries the reason of an Unrecognised to where it is returned."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of the line: as written, and as the shell would hand it on if it ``expands`` nothing."""

    written: str
    value: str
    expands: bool


_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+)
      | (?P<redirect>\d*(?:>>|>&|>\||>|<<<|<<|<&|<)|&>>|&>)
      | (?P<control>&&|\|\||[;&|()])
      | (?P<word>(?:[^ \t;&|<>()'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+)""",
    re.VERBOSE | re.DOTALL,
)
_PIECE = re.compile(
    r"""'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|\\(?P<escaped>.)|(?P<bare>[^'"\\]+)""", re.DOTALL
)
_EXPANDING_BARE = re.compile(r"[$`*?\[{]|^~")
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>.*)", re.ASCII | re.DOTALL)
_PROGRAMS = ("manage.py", "django-admin", "-m django")
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*")
_RUNNERS = {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run")}
_INSTEAD = {
    "flock": "runs of a job don't overlap by default, so leave flock out",
    "timeout": "give the job a timeout instead",
    "sudo": "a job runs as the worker's user; run a worker as that user on a queue of its own",
    "su": "a job runs as the worker's user; run a worker as that user on a queue of its own",
}
_CONTROL_REASONS = {
    "|": "a pipe needs a shell; do it in Python, in a management command or a function with @job",
    "||": "'||' needs a shell; a job that fails is recorded and can be retried",
    "&": "'&' would run it in the background; a job needs none of that",
}
_WRAP_IT = "call it from a management command or a function with @job"


def recognise_management_command(line: str) -> ManagementCommand | Unrecognised:
    """Find the management command in a line such as ``cd /srv/app && ./manage.py clearsessions >/dev/null``.

    Directory changes, variables, the interpreter and redirections are told apart from it, never run. Anything
    that takes a shell (pipes, expansions in arguments, further commands) is not recognised.
    """
    try:
        return _recognise(line)
    except _NotOneCommand as error:
        return Unrecognised(str(error))


def _recognise(line: str) -> ManagementCommand:
    directory: str | None = None
    environment: list[tuple[str, str]] = []
    redirections: list[str] = []
    commands = [command for command in _simple_commands(line, redirections) if command]
    if not commands:
        raise _NotOneCommand("there is no command")
    *before, last = commands
    for words in before:
        program = words[0].value
        if program == "cd" and len(words) == 2:
            directory = words[1].written if words[1].expands else words[1].value
        elif program == "export":
            environment += _assignments(words[1:])[0]
        elif program not in (".", "source"):
            raise _NotOneCommand(f"{_shown(words)} is a command of its own; {_one_each(words, last)}")
    assigned, rest = _assignments(last)
    environment += assigned
    name, args = _after_manage_py(_after_wrappers(rest, environment))
    return ManagementCommand(
        name=name,
        args=args,
        directory=directory,
        environment=tuple(environment),
        redirections=tuple(redirections),
    )


def _one_each(first: Sequence[_Word], last: Sequence[_Word]) -> str:
    if _runs_manage_py(first) or _runs_manage_py(last):
        return "make each command a job, or one function with @job that calls them in turn"
    return _WRAP_IT


def _runs_manage_py(words: Sequence[_Word]) -> bool:
    return any(_base(word) in _PROGRAMS for word in words)


def _simple_commands(line: str, redirections: list[str]) -> list[list[_Word]]:
    """Split a line at ``&&`` and ``;`` up to a comment, with the redirections put aside."""
    commands: list[list[_Word]] = [[]]
    tokens = _tokens(line)
    for kind, text in tokens:
        if text.startswith("#"):
            break
        if kind == "word":
            commands[-1].append(_word(text))
        elif kind == "redirect":
            target = next((target for kind, target in tokens if kind == "word"), "")
            if "<" in text:
                raise _NotOneCommand(f"'{text}{target}' feeds it input; read the file in the command itself")
            redirections.append(f"{text}{target}")
        elif text in ("&&", ";"):
            commands.append([])
        else:
            raise _NotOneCommand(_CONTROL_REASONS.get(text, "parentheses need a shell; " + _WRAP_IT))
    return commands


def _tokens(line: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(line):
        match = _TOKEN.match(line, position)
        if match is None:
            raise _NotOneCommand(f"a quote stays open or a backslash ends the line at {line[position:]!r}")
        position = match.end()
        if match.lastgroup != "blank":
            yield str(match.lastgroup), match[0]


def _word(written: str) -> _Word:
    value, expands = "", False
    for piece in _PIECE.finditer(written):
        bare, double = piece["bare"], piece["double"]
        if bare is not None:
            expands = expands or bool(_EXPANDING_BARE.search(bare))
        elif double is not None:
            expands = expands or bool(re.search(r"(?<!\\)[$`]", double))
            double = re.sub(r'\\([$`"\\])', r"\1", double)
        value += bare or double or piece["single"] or piece["escaped"] or ""
    return _Word(written, value, expands)


def _assignments(words: Sequence[_Word]) -> tuple[list[tuple[str, str]], Sequence[_Word]]:
    """Take the ``NAME=value`` words off the front."""
    assigned: list[tuple[str, str]] = []
    for index, word in enumerate(words):
        match = _ASSIGNMENT.fullmatch(word.value)
        if match is None or not _ASSIGNMENT.match(word.written):
            return assigned, words[index:]
        assigned.append((match["name"], match["value"]))
    return assigned, ()


def _after_wrappers(words: Sequence[_Word], environment: list[tuple[str, str]]) -> Sequence[_Word]:
    """Take off what only decides how a command is started: env, exec, nice, nohup, ``uv run`` and such."""
    while words:
        program = _base(words[0])
        if program in ("env", "exec", "nohup", "chronic", "time"):
            words = words[1:]
        elif program in ("nice", "ionice"):
            words = words[1:]
            while words and words[0].value.startswith("-"):
                words = words[2:] if words[0].value in ("-n", "-c", "-p") else words[1:]
        elif len(words) > 1 and (program, words[1].value) in _RUNNERS:
            words = words[2:]
        else:
            return words
        assigned, words = _assignments(words)
        environment += assigned
    return words


def _after_manage_py(words: Sequence[_Word]) -> tuple[str, tuple[str, ...]]:
    if not words:
        raise _NotOneCommand("there is no command")
    started = words
    if _PYTHON.fullmatch(_base(words[0])):
        words = _after_interpreter(words)
    program = _base(words[0]) if words else ""
    if program in _INSTEAD and _runs_manage_py(words):
        raise _NotOneCommand(f"{program!r} is not carried over: {_INSTEAD[program]}")
    if program not in _PROGRAMS:
        raise _NotOneCommand(f"{_shown(started)} does not run manage.py; {_WRAP_IT}")
    if len(words) < 2 or words[1].value.startswith("-") or words[1].expands:
        raise _NotOneCommand(f"{_shown(started)} names no management command")
    for word in words[2:]:
        if word.expands:
            raise _NotOneCommand(f"argument {word.written!r} needs a shell to expand it; write its value out")
    return words[1].value, tuple(word.value for word in words[2:])


def _after_interpreter(words: Sequence[_Word]) -> Sequence[_Word]:
    """Take off the interpreter with its options; ``-m django`` stays, as one word."""
    words = words[1:]
    while words and words[0].value.startswith("-"):
        option = words[0].value
        if option == "-m" and len(words) > 1 and words[1].value == "django":
            return (_Word("-m django", "-m django", expands=False), *words[2:])
        words = words[2:] if option in ("-W", "-X") else words[1:]
    return words


def _base(word: _Word) -> str:
    return word.value.rpartition("/")[2]


def _shown(words: Sequence[_Word]) -> str:
    text = " ".join(word.written for word in words)
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
