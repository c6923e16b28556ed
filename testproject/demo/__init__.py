"""``manage.py demo``: two workers, one of them killed in the middle of a run, on a database of its own."""

from __future__ import annotations
