"""Ends an engine function before its k-th statement, as kill -9 does: the transaction is never committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.db import connection

from .rows import all_rows


class Killed(BaseException):
    """No ``except Exception`` catches it."""


def deaths_of(act: Callable[[], Any]) -> Iterator[int]:
    """Let ``act`` die before its first statement, its second and so on, until one gets through; yield each number.

    Asserts after each death that nothing of it is left.
    """
    for last in range(1, 100):
        before = all_rows()
        try:
            with connection.execute_wrapper(_dying_at(last)):
                act()
        except Killed:
            assert not connection.in_atomic_block
            assert all_rows() == before, f"something is left of a death before statement {last}"
            yield last
        else:
            return
    raise AssertionError("it never got through")


def _dying_at(last: int) -> Callable[..., Any]:
    seen = 0

    def wrapper(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == last:
            raise Killed
        return execute(sql, params, many, context)

    return wrapper
