"""The shop's jobs, as people have them: found by django_leasejobs in every installed app."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from django.core.mail import send_mail
from django.utils import timezone

from django_leasejobs import RunContext, command_job, job

from .effects import leave_effect
from .files import Goods, read_goods, read_stock_count, write_report
from .models import Order, Product
from .stock import correct_stock

REMIND_AFTER = timedelta(days=3)


@job("0 2 * * *", timezone="Europe/Berlin", retries=3, timeout="15m", takes_context=True)
def sales_report(context: RunContext) -> str:
    """Write the sales of the day before to a file. Running it twice writes the same file again."""
    day = timezone.localdate(context.scheduled_for or timezone.now()) - timedelta(days=1)
    orders = Order.objects.filter(placed_at__date=day).select_related("product")
    path = write_report(day, orders)
    context.log("Wrote %s", path.name)
    return path.name


@job("0 9 * * mon-fri", timezone="Europe/Berlin", retries=2, takes_context=True)
def remind_unpaid(context: RunContext) -> int:
    """Mail everybody who has not paid for three days, once.

    A mail can't be taken back: if this dies between the mail and the commit, that one customer gets it twice.
    """
    unpaid = Order.objects.filter(
        paid_at=None, reminded_at=None, placed_at__lte=timezone.now() - REMIND_AFTER
    ).select_related("product")
    sent = 0
    for order in unpaid:
        context.check()
        with context.guard():
            Order.objects.filter(pk=order.pk).update(reminded_at=timezone.now())
            send_mail(
                f"Your order {order.pk} is not paid yet",
                f"{order.quantity} x {order.product.name}: please pay soon.",
                "shop@example.com",
                [order.email],
            )
        sent += 1
    return sent


@job("@every 15m", kwargs={"warehouse": "main"}, atomic=True, takes_context=True)
def reconcile_stock(context: RunContext, warehouse: str) -> dict[str, Any]:
    """Set the stock to what was counted. Its writes and its success are one transaction."""
    corrections, unknown = correct_stock(warehouse, read_stock_count(warehouse))
    for sku in unknown:
        context.log("The count has an article that the shop doesn't: %s", sku)
    leave_effect(context, f"stock of {warehouse}")
    return {"corrected": corrections, "unknown": unknown}


@job("30 4 * * sun", timezone="Europe/Berlin", takes_context=True)
def import_catalogue(context: RunContext, seconds_per_row: float = 0.0) -> dict[str, int]:
    """Take over the supplier's catalogue row by row; after a crash the next worker goes on where this one was.

    ``seconds_per_row`` stands for a slow supplier.
    """
    goods = read_goods()
    start = (context.state or {}).get("rows", 0)
    for number, item in enumerate(goods[start:], start=start + 1):
        context.check()
        time.sleep(seconds_per_row)
        # The row, its effect and the place to resume at are written together, under the lease, or not at all.
        with context.guard():
            _store(item)
            leave_effect(context, f"row {number}")
            context.state = {"rows": number}
            context.save_state()
        context.progress(number, len(goods), item.sku)
    return {"rows": len(goods), "resumed_after": start}


def _store(item: Goods) -> None:
    Product.objects.update_or_create(sku=item.sku, defaults={"name": item.name, "price": item.price})


@job("0 * * * *", retries=3, backoff="1s", takes_context=True)
def fetch_rates(context: RunContext) -> dict[str, str]:
    """Ask a bank that answers only from the third attempt on."""
    if context.attempt < 3:
        raise ConnectionError(f"The bank hung up (attempt {context.attempt}).")
    return {"EUR/USD": "1.0870", "EUR/CHF": "0.9512"}


clear_sessions = command_job("clearsessions", "30 3 * * *", name="shop.clear_sessions", timezone="Europe/Berlin")
