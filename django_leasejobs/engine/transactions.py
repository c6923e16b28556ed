"""How every transaction of the engine is opened, bounded and tried again."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from django.db import connections, transaction

from django_leasejobs import vendor
from django_leasejobs.conf import get_settings
from django_leasejobs.models import Job

P = ParamSpec("P")
R = TypeVar("R")

STATEMENT_TIMEOUT = 10.0
TRIES = 6
FIRST_PAUSE = 0.01


def alias() -> str:
    """Return the alias of the database that holds the job tables."""
    return vendor.write_alias(Job, get_settings().DATABASE)


@contextmanager
def short_transaction(using: str, *, timeout: float = STATEMENT_TIMEOUT) -> Iterator[None]:
    """Open a write transaction whose statements are bounded, or join the caller's when there is one.

    There it is a savepoint: what raises leaves nothing behind, and the caller may catch it and go on.
    """
    connection = connections[using]
    if connection.in_atomic_block:
        with transaction.atomic(using=using):
            yield
        return
    with vendor.write_lock_at_begin(connection), transaction.atomic(using=using):
        vendor.limit_statements(connection, timeout)
        yield


def in_short_transaction(act: Callable[P, R]) -> Callable[P, R]:
    """Run a function in a short transaction, again after a deadlock, a serialization failure or a busy file.

    Inside a transaction of the caller it runs once: only the caller can start that one anew.
    """

    @functools.wraps(act)
    def transacted(*args: P.args, **kwargs: P.kwargs) -> R:
        using = alias()
        if connections[using].in_atomic_block:
            with short_transaction(using):
                return act(*args, **kwargs)
        for tried in range(1, TRIES + 1):
            try:
                with short_transaction(using):
                    return act(*args, **kwargs)
            except Exception as error:
                if tried == TRIES or not vendor.is_retryable(error):
                    raise
            time.sleep(FIRST_PAUSE * 2**tried * random.uniform(0.5, 1.5))  # noqa: S311
        raise AssertionError("unreachable")

    return transacted
