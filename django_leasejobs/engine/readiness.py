"""Whether the database is there, and migrated, before anything else is tried."""

from __future__ import annotations

from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor

from django_leasejobs.models import Job, Run, RunStatus
from django_leasejobs.registry import registry

from .transactions import alias

APP = "leasejobs"


class NotReady(Exception):
    """The job tables can't be used; the message says why and what to do."""


def require_ready() -> None:
    """Raise NotReady unless the database answers and has all of this app's migrations."""
    using = alias()
    connection = connections[using]
    try:
        connection.ensure_connection()
        executor = MigrationExecutor(connection)
        targets = [node for node in executor.loader.graph.leaf_nodes() if node[0] == APP]
        missing = [migration.name for migration, _ in executor.migration_plan(targets) if migration.app_label == APP]
    except DatabaseError as error:
        words = str(error).strip().splitlines()
        raise NotReady(f"The database {using!r} can't be reached: {words[0] if words else error!r}") from error
    if missing:
        raise NotReady(
            f"The database {using!r} lacks the migration {APP}.{missing[0]}. Run: python manage.py migrate {APP}"
        )


def known_queues() -> frozenset[str]:
    """Return the queues of jobs in code and table, and of waiting runs."""
    using = alias()
    rows = set(Job.objects.using(using).order_by().values_list("queue", flat=True).distinct())
    waiting = Run.objects.using(using).filter(status=RunStatus.READY).order_by()
    rows |= set(waiting.values_list("queue", flat=True).distinct())
    return frozenset(rows | {definition.queue for definition in registry.jobs.values()} | {"default"})
