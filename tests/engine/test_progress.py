from __future__ import annotations

import pytest

from django_leasejobs.engine.progress import record_progress
from django_leasejobs.models import Lease
from tests.support.rows import all_rows, claimed_batch

pytestmark = pytest.mark.django_db


def test_progress_is_kept_with_each_lease() -> None:
    first, second, other = claimed_batch(3)

    record_progress({second.token: {"done": 2, "message": "Ünï"}, first.token: None})

    rows = dict(Lease.objects.values_list("pk", "progress"))
    assert rows == {first.token: None, second.token: {"done": 2, "message": "Ünï"}, other.token: None}


def test_progress_of_a_lease_that_is_gone_and_no_progress_change_nothing() -> None:
    claimed_batch(1)
    before = all_rows()

    record_progress({10**9: {"done": 1}})
    record_progress({})

    assert all_rows() == before
