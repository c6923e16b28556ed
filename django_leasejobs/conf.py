"""The ``LEASEJOBS`` setting as one frozen value; only ``get_settings`` touches Django."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import cache
from typing import Any

from django.conf import settings as django_settings
from django.core.signals import setting_changed
from django.dispatch import receiver

from .durations import parse_duration
from .exceptions import DurationError

POOLS = ("process", "thread")
DEFAULT_RETENTION: Mapping[str, timedelta | None] = {
    "SUCCESSFUL": timedelta(days=7),
    "FAILED": timedelta(days=30),
    "CANCELLED": timedelta(days=30),
    "MISSED": timedelta(days=30),
    "SKIPPED": timedelta(days=7),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The LEASEJOBS setting with its defaults. Durations are timedeltas, sizes are bytes."""

    DATABASE: str | None = None
    LEASE: timedelta = timedelta(seconds=60)
    POLL_INTERVAL: timedelta = timedelta(seconds=1)
    POOL: str = "process"
    CONCURRENCY: int = 4
    RETENTION: Mapping[str, timedelta | None] = field(default_factory=lambda: DEFAULT_RETENTION)
    COMMANDS: tuple[str, ...] = ()
    NOTIFY: bool = True
    MAX_RESULT_BYTES: int = 64 * 1024
    MAX_LOG_BYTES: int = 64 * 1024
    ALERTS: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with one key of the setting."""

    key: str
    words: str
    hint: str


def load(given: object) -> tuple[Settings, tuple[Problem, ...]]:
    """Read the setting; a key with a problem keeps its default, so that the checks can name them all."""
    if not isinstance(given, Mapping):
        return Settings(), (Problem("LEASEJOBS", f"LEASEJOBS must be a dict, not {given!r}.", "LEASEJOBS = {}"),)
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, value in given.items():
        reader = READERS.get(key)
        if reader is None:
            problems.append(Problem(str(key), f"LEASEJOBS has an unknown key {key!r}.", _suggestion(str(key))))
            continue
        try:
            values[key] = reader(value)
        except ValueError as error:
            problems.append(Problem(key, f"LEASEJOBS[{key!r}] = {value!r}: {error}", "See the settings reference."))
    return Settings(**values), tuple(problems)


@cache
def get_settings() -> Settings:
    """Return the project's settings; ``override_settings`` works as usual."""
    return load(getattr(django_settings, "LEASEJOBS", {}))[0]


@receiver(setting_changed)
def forget_settings(*, setting: str, **kwargs: object) -> None:
    if setting == "LEASEJOBS":
        get_settings.cache_clear()


def _suggestion(key: str) -> str:
    known = [item.name for item in fields(Settings)]
    close = difflib.get_close_matches(key.upper(), known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"Known keys: {', '.join(known)}."


def _duration(lowest: float) -> Callable[[object], timedelta]:
    def read(value: object) -> timedelta:
        if isinstance(value, bool) or not isinstance(value, int | float | str | timedelta):
            raise DurationError("a number of seconds, a timedelta or text such as '90s' is needed.")
        duration = parse_duration(value)
        if duration.total_seconds() < lowest:
            raise ValueError(f"at least {lowest} s is needed.")
        return duration

    return read


def _whole(lowest: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise ValueError(f"a whole number of at least {lowest} is needed.")
        return value

    return read


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("True or False is needed.")
    return value


def _alias(value: object) -> str | None:
    if value is None or (isinstance(value, str) and value in django_settings.DATABASES):
        return value
    raise ValueError(f"there is no such alias in DATABASES ({', '.join(django_settings.DATABASES)}).")


def _pool(value: object) -> str:
    if isinstance(value, str) and value in POOLS:
        return value
    raise ValueError(f"one of {', '.join(POOLS)} is needed.")


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, list | tuple | set | frozenset):
        raise ValueError("a list of names is needed.")
    if not all(isinstance(item, str) and item for item in value):
        raise ValueError("each name must be a text.")
    return tuple(value)


def _retention(value: object) -> Mapping[str, timedelta | None]:
    if not isinstance(value, Mapping):
        raise ValueError("a dict of status to duration (None: for ever) is needed.")
    unknown = sorted(str(key) for key in value if key not in DEFAULT_RETENTION)
    if unknown:
        raise ValueError(f"unknown status {unknown[0]!r}; known: {', '.join(DEFAULT_RETENTION)}.")
    read = _duration(0)
    return {**DEFAULT_RETENTION, **{key: None if item is None else read(item) for key, item in value.items()}}


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("a dict is needed.")
    return value


READERS: Mapping[str, Callable[[object], Any]] = {
    "DATABASE": _alias,
    "LEASE": _duration(1),
    "POLL_INTERVAL": _duration(0.01),
    "POOL": _pool,
    "CONCURRENCY": _whole(1),
    "RETENTION": _retention,
    "COMMANDS": _names,
    "NOTIFY": _flag,
    "MAX_RESULT_BYTES": _whole(0),
    "MAX_LOG_BYTES": _whole(0),
    "ALERTS": _mapping,
}
