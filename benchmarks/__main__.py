"""Runs one benchmark: ``python -m benchmarks NAME [its options]``, or ``list`` for their names."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks


def names() -> list[str]:
    """Return the benchmarks: every module of this package with a ``main``."""
    return sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name[0] != "_")


def main(arguments: list[str]) -> int:
    name, rest = (arguments[0], arguments[1:]) if arguments else ("list", [])
    if name == "list":
        for known in names():
            doc = importlib.import_module(f"benchmarks.{known}").__doc__ or ""
            print(f"{known:<16}{doc.strip().splitlines()[0]}")
        return 0
    if name not in names():
        print(f"There is no benchmark {name!r}. Known: list, {', '.join(names())}.", file=sys.stderr)
        return 2
    importlib.import_module(f"benchmarks.{name}").main(rest)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
