"""Death between two statements, and answers that never arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import connection

T = TypeVar("T")


class Killed(BaseException):
    """The process is gone in the middle of a transaction."""


@contextmanager
def killed_at_statement(number: int | None) -> Iterator[None]:
    """Raise Killed instead of the statement of this number, from 1; None lets all pass."""
    if number is None:
        yield
        return
    left = number

    def execute(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed
        return execute(sql, params, many, context)

    with connection.execute_wrapper(execute):
        yield


def survives(number: int | None, act: Callable[[], T]) -> tuple[bool, T | None]:
    """Call ``act``, maybe killed in the middle; return whether it lived and what it returned."""
    try:
        with killed_at_statement(number):
            return True, act()
    except Killed:
        return False, None
