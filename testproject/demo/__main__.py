"""Makes the demo's database and points the settings at it before Django reads them."""

from __future__ import annotations

import os
import sys

import django

from .options import DemoError, choose_port, read_options, require_packages
from .place import demo_place
from .stop_signals import catch_stop_signals, ignore_stop_signals

INTERRUPTED = 130


def main(arguments: list[str]) -> int:
    options = read_options(arguments)
    catch_stop_signals()
    try:
        require_packages(options)
        port = choose_port(options)
        with demo_place(postgres=options.postgres) as folder:
            try:
                django.setup()
                # Needs the models, which are there only now.
                from .run import run_demo

                return run_demo(options, folder, port)
            finally:
                ignore_stop_signals()
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("demo: stopped before the end of the story.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output is gone; Python would complain once more when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
