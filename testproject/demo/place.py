"""Where the demo lives: a temporary folder with a database, and an environment that points nowhere else."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp

LEASE = 6.0


@contextmanager
def demo_place(*, postgres: bool) -> Iterator[Path]:
    """Make the folder and the database, and point this process and its children at them; take all away at the end."""
    folder = Path(mkdtemp(prefix="leasejobs-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        url = f"sqlite:///{folder / 'demo.sqlite3'}"
        if postgres:
            # Only here: it needs a package that the demo on SQLite does without.
            from testproject.embedded_postgres import embedded_postgres

            url = stack.enter_context(embedded_postgres(durable=False)).url
        os.environ.update(
            DATABASE_URL=url,
            DJANGO_SETTINGS_MODULE="testproject.settings",
            PYTHONUNBUFFERED="1",
            SECRET_KEY=secrets.token_urlsafe(32),
            SHOP_DATA_DIR=str(folder),
            SHOP_LEASE=f"{LEASE:g}s",
            # A killed worker leaves the socket of its process pool behind.
            TMPDIR=str(folder),
        )
        os.environ.pop("DEBUG", None)
        yield folder
