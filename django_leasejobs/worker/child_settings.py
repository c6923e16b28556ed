"""What a child process is told when it starts. Imported before the project is loaded, so it knows no model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a run's output is kept, in bytes."""

    result: int
    log: int


@dataclass(frozen=True, slots=True)
class ChildSettings:
    """The worker's name, the limits, and where the project's settings are."""

    worker_name: str
    limits: Limits
    settings_module: str
    environment: dict[str, str]
