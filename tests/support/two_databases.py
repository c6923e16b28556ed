"""Settings where the job tables live in a database of their own and reads are routed to a replica that has none."""

from __future__ import annotations

from typing import Any

from django.db.models import Model

from testproject.settings import *  # noqa: F403
from testproject.settings import DATABASES

APP = "leasejobs"


class ToTheJobsDatabase:
    """Writes of the app go to ``jobs``. Its reads go to ``replica``, which knows nothing of what was just written."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str | None:
        return "replica" if model._meta.app_label == APP else None

    def db_for_write(self, model: type[Model], **hints: Any) -> str | None:
        return "jobs" if model._meta.app_label == APP else None

    def allow_relation(self, one: Model, other: Model, **hints: Any) -> bool | None:
        return True


def _empty() -> dict[str, Any]:
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}


DATABASES = {"jobs": DATABASES["default"], "default": _empty(), "replica": _empty()}
DATABASE_ROUTERS = [ToTheJobsDatabase()]
