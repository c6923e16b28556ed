from __future__ import annotations

import time

import pytest

from tests.support.factories import now

LONG_ENOUGH = 5.0


@pytest.fixture
def within_a_minute(db: None) -> None:
    """Begin early enough in a minute of the database's clock to end in the same one."""
    instant = now()
    left = 60 - instant.second - instant.microsecond / 1e6
    if left < LONG_ENOUGH:
        time.sleep(left)
