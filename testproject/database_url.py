"""The database that DATABASE_URL names. What is wrong with it is told in one line, without its password."""

from __future__ import annotations

import importlib.util
import re
import warnings
from typing import Any

import environ

DRIVERS = {
    "django.db.backends.sqlite3": ("sqlite3",),
    "django.db.backends.postgresql": ("psycopg", "psycopg2"),
    "django.db.backends.mysql": ("MySQLdb",),
}
KINDS = "sqlite:///FILE, postgres://USER:PASSWORD@HOST:PORT/NAME or mysql://USER:PASSWORD@HOST:PORT/NAME"


def database_from(env: environ.Env, *, default: str) -> dict[str, Any]:
    """Return Django's settings of the database; end the process with a line for a person when there is none."""
    url: str = env.str("DATABASE_URL", default=default)
    try:
        return _read(url)
    except ValueError as error:
        shown = without_password(url)
        raise SystemExit(f"The environment variable DATABASE_URL ({shown!r}) can't be used: {error}.") from None


def without_password(url: str) -> str:
    """Hide what stands between the user's name and the last @."""
    return re.sub(r"(://[^:/@]*):.*@", r"\1:***@", url, flags=re.DOTALL)


def _read(url: str) -> dict[str, Any]:
    """Raise ValueError with words that give away nothing of the URL."""
    if not url.strip():
        raise ValueError(f"it is empty; unset it for the default, or give {KINDS}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            config: dict[str, Any] = environ.Env.db_url_config(url)
    except ValueError:
        words = "its port is no number, or a sign of its password has to be written as %XX (such as %2F for a slash)"
        raise ValueError(words) from None
    drivers = DRIVERS.get(config.get("ENGINE", ""))
    if drivers is None:
        raise ValueError(f"it names no known kind of database; give {KINDS}")
    if not any(importlib.util.find_spec(driver) for driver in drivers):
        raise ValueError(f"the package {drivers[0]} is not installed")
    return config
