"""Pages of tables that may hold millions of rows: nothing counts or walks all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.paginator import Paginator
from django.utils.functional import cached_property

if TYPE_CHECKING:
    Base = Paginator[Any]
else:
    Base = Paginator

MOST_LISTED = 1000


class BoundedPaginator(Base):
    """Pages through the first ``MOST_LISTED`` rows only, and counts no further."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[:MOST_LISTED].count())
