from __future__ import annotations

import pytest
from django.core.management.base import CommandError

from django_leasejobs.management.commands.run_job_worker import require_connections
from tests.worker.support import options


@pytest.mark.parametrize(
    ("pool", "kind", "needed"),
    [
        (True, "thread", 6),
        ({"max_size": 5}, "thread", 6),
        ({"min_size": 5}, "thread", 6),
        ({"min_size": 1, "max_size": 3}, "process", 4),
    ],
)
def test_a_connection_pool_with_too_little_room_is_refused_with_what_is_needed(pool, kind, needed):
    with pytest.raises(CommandError, match=f"needs {needed} at a time"):
        require_connections({"OPTIONS": {"pool": pool}}, options(pool=kind, concurrency=2))


@pytest.mark.parametrize(
    ("pool", "kind"),
    [(None, "thread"), ({}, "thread"), (True, "process"), ({"max_size": 6}, "thread"), ({"min_size": 6}, "thread")],
)
def test_no_pool_or_one_with_room_is_taken(pool, kind):
    require_connections({"OPTIONS": {"pool": pool}}, options(pool=kind, concurrency=2))
