"""Fills the demo's database and folder: tables, an admin user, goods, orders, jobs that are due every few seconds."""

from __future__ import annotations

import csv
import secrets
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from django_leasejobs.engine.edit import save_job, set_enabled
from django_leasejobs.engine.sync import sync_jobs
from django_leasejobs.engine.transactions import alias, short_transaction
from django_leasejobs.models import Job
from django_leasejobs.registry import registry
from testproject.shop.files import catalogue_path, stock_count_path
from testproject.shop.models import Order, Product

from .goods import WAREHOUSE, goods
from .ledger import Ledger
from .place import LEASE

ADMIN = "admin"
JOBS: dict[str, dict[str, Any]] = {
    "count the stock": {
        "task": "shop.reconcile_stock",
        "kwargs": {"warehouse": WAREHOUSE},
        "schedule": "@every 2s",
    },
    "report the sales": {"task": "shop.sales_report", "schedule": "@every 5s"},
    "remind who owes": {"task": "shop.remind_unpaid", "schedule": "@every 10s"},
    "ask the bank": {
        "task": "shop.fetch_rates",
        "schedule": "@every 15s",
        "retries": 3,
        "backoff": timedelta(seconds=1),
    },
    "clear sessions": {"task": "manage.py clearsessions", "schedule": "@every 20s"},
}


def set_up() -> str:
    """Make all that the demo needs; return the admin user's password."""
    call_command("migrate", verbosity=0, interactive=False)
    password = secrets.token_urlsafe(9)
    User.objects.create_superuser(ADMIN, password=password)
    write_catalogue()
    make_shop()
    sync_jobs(registry.jobs.values())
    for name, values in JOBS.items():
        lease = timedelta(seconds=LEASE)
        save_job(Job(name=name, description="Made by the demo.", lease=lease, enabled=False, **values))
    return password


def enable_jobs(ledger: Ledger) -> None:
    """Let the demo's jobs fall due from now on, and enter them before any worker sees it."""
    with short_transaction(alias()):
        set_enabled(list(Job.objects.filter(name__in=JOBS).values_list("pk", flat=True)), True)
        ledger.enter()


def write_catalogue() -> None:
    _write(catalogue_path(), ["sku", "name", "price"], goods())


def make_shop() -> None:
    """Let the shop have half of the goods, miscounted stock, and orders of which some are unpaid for long."""
    half = goods()[: len(goods()) // 2]
    products = Product.objects.bulk_create(Product(sku=sku, name=name, price=price) for sku, name, price in half)
    _write(stock_count_path(WAREHOUSE), ["sku", "counted"], [(product.sku, 10) for product in products])
    now = timezone.now()
    Order.objects.bulk_create(
        Order(
            product=product,
            quantity=1 + number % 3,
            email=f"customer{number}@example.com",
            placed_at=now - timedelta(days=number % 6),
            paid_at=None if number % 2 else now,
        )
        for number, product in enumerate(products)
    )


def _write(path: Path, header: list[str], rows: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
