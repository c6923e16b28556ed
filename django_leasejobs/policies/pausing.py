"""When a job that keeps failing pauses itself."""

from __future__ import annotations

from collections.abc import Sequence


def should_pause(failed: Sequence[bool], limit: int | None) -> bool:
    """Whether the last ``limit`` ended runs all failed; ``failed`` is newest first. None: never pause."""
    if limit is None or limit < 1:
        return False
    return len(failed) >= limit and all(failed[:limit])
