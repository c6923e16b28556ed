"""What the demo's shop sells."""

from __future__ import annotations

WAREHOUSE = "main"
FRUIT = ["Apple", "Banana", "Cherry", "Date", "Elderberry", "Fig", "Grape", "Honeydew", "Kiwi", "Lemon"]
SIZES = ["loose", "bag", "crate", "pallet"]


def goods() -> list[tuple[str, str, str]]:
    """Return the supplier's catalogue: article number, name, price."""
    names = [f"{fruit}, {size}" for fruit in FRUIT for size in SIZES]
    return [(f"F{number:03}", name, f"{number}.50") for number, name in enumerate(names, start=1)]
