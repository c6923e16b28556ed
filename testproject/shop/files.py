"""The files that the shop's jobs read and write, all below DATA_DIR."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

from django.conf import settings

from .models import Order


@dataclass(frozen=True, slots=True)
class Goods:
    """One row of the supplier's catalogue."""

    sku: str
    name: str
    price: Decimal


def data_dir() -> Path:
    return Path(settings.DATA_DIR)


def catalogue_path() -> Path:
    return data_dir() / "catalogue.csv"


def stock_count_path(warehouse: str) -> Path:
    """Return the file of a warehouse; raise ValueError for a name that would lead elsewhere."""
    if not warehouse.isidentifier():
        raise ValueError(f"{warehouse!r} is not the name of a warehouse.")
    return data_dir() / "stock" / f"{warehouse}.csv"


def read_goods() -> list[Goods]:
    with catalogue_path().open(newline="", encoding="utf-8") as file:
        return [Goods(row["sku"], row["name"], Decimal(row["price"])) for row in csv.DictReader(file)]


def read_stock_count(warehouse: str) -> Mapping[str, int]:
    """Return what was counted in a warehouse, by article number."""
    with stock_count_path(warehouse).open(newline="", encoding="utf-8") as file:
        return {row["sku"]: int(row["counted"]) for row in csv.DictReader(file)}


def write_report(day: date, orders: Iterable[Order]) -> Path:
    """Write a day's sales. The file appears whole or not at all, whoever else writes it at the same time."""
    path = data_dir() / "reports" / f"sales-{day.isoformat()}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.draft")
    with draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sku", "quantity", "total"])
        for order in orders:
            writer.writerow([order.product.sku, order.quantity, order.quantity * order.product.price])
    return draft.replace(path)
