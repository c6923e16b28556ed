"""What the screen shows, read from the tables at one moment. Times are the database's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from django_leasejobs.clock import database_now
from django_leasejobs.models import Lease, Run, Worker


@dataclass(frozen=True, slots=True)
class Facts:
    """The live leases, the workers' rows, and the latest runs with the unfinished ones first."""

    now: datetime
    leases: Sequence[Lease]
    workers: Sequence[Worker]
    runs: Sequence[Run]


def now() -> datetime:
    """Ask the database for its time."""
    return database_now(connection.alias)


def look(*, runs: int) -> Facts:
    """Read at most ``runs`` runs, and all else."""
    unfinished = Run.objects.filter(finished_at=None).order_by("-id")[:runs]
    finished = Run.objects.exclude(finished_at=None).order_by("-finished_at", "-id")[:runs]
    return Facts(
        now=now(),
        leases=list(Lease.objects.select_related("run").order_by("pk")),
        workers=list(Worker.objects.order_by("name")),
        runs=[*unfinished, *finished][:runs],
    )


def ended_after(moment: datetime) -> Sequence[Run]:
    """Return the runs that ended after a moment, the oldest end first."""
    return list(Run.objects.filter(finished_at__gt=moment).order_by("finished_at", "id"))
