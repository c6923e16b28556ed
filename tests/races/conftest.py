from __future__ import annotations

import pytest

from tests.support.sessions import skips_locked


@pytest.fixture
def row_locks(transactional_db: None) -> None:
    """Skip where two sessions can't be inside a write transaction at the same time."""
    if not skips_locked():
        pytest.skip("this database has one lock for all its rows")
