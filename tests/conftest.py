from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings

from django_leasejobs.registry import registry
from tests.support.processes import WorkerProcesses

settings.register_profile("leasejobs", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("leasejobs")


@pytest.fixture(autouse=True)
def _registry_as_it_was() -> Iterator[None]:
    """Take out again what a test registers."""
    before = (dict(registry.tasks), dict(registry.jobs), dict(registry.calendars))
    yield
    for table, kept in zip((registry.tasks, registry.jobs, registry.calendars), before, strict=True):
        table.clear()
        table.update(kept)  # type: ignore[arg-type]


@pytest.fixture
def database_url(transactional_db: None) -> str:
    """The URL of the test database, for processes that a test starts."""
    given = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{given['NAME']}"
    scheme = {"postgresql": "postgres", "mysql": "mysql"}[connection.vendor]
    user = quote(given["USER"]) + (f":{quote(given['PASSWORD'])}" if given["PASSWORD"] else "")
    options = {name: value for name, value in given["OPTIONS"].items() if name == "unix_socket"}
    port = f":{given['PORT']}" if given["PORT"] else ""
    return f"{scheme}://{user}@{given['HOST']}{port}/{given['NAME']}?{urlencode(options)}".rstrip("?")


@pytest.fixture
def workers(database_url: str, tmp_path: Path) -> Iterator[WorkerProcesses]:
    """Starts real ``run_job_worker`` processes on the test database; ends what is left of them."""
    processes = WorkerProcesses(tmp_path, {**os.environ, "DATABASE_URL": database_url})
    yield processes
    processes.end_all()
