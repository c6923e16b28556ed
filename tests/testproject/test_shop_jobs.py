from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.core import mail
from django.utils import timezone

from django_leasejobs.models import Run
from testproject.shop import jobs
from testproject.shop.models import Effect, Order, Product, Stock

from .support import attempt, shop_run


def test_the_report_of_a_day_has_the_orders_of_the_day_before(data_dir: Path, products: dict[str, Product]) -> None:
    day = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for placed_at, quantity in ((day, 3), (day + timedelta(days=1), 9)):
        Order.objects.create(product=products["A1"], quantity=quantity, email="a@example.com", placed_at=placed_at)
    run = shop_run("shop.sales_report")
    Run.objects.filter(pk=run.pk).update(scheduled_for=datetime(2026, 3, 2, 1, tzinfo=UTC))
    assert attempt(run).status == "SUCCESSFUL", run.traceback
    assert run.result == "sales-2026-03-01.csv"
    written = (data_dir / "reports" / "sales-2026-03-01.csv").read_text().splitlines()
    assert written == ["sku,quantity,total", "A1,3,1.20"]
    assert [path.name for path in (data_dir / "reports").iterdir()] == ["sales-2026-03-01.csv"]


def test_only_who_has_not_paid_for_days_is_reminded_and_only_once(products: dict[str, Product]) -> None:
    old = timezone.now() - timedelta(days=4)
    apple = products["A1"]
    late = Order.objects.create(product=apple, email="late@example.com", placed_at=old)
    Order.objects.create(product=apple, email="paid@example.com", placed_at=old, paid_at=old)
    Order.objects.create(product=apple, email="new@example.com")
    assert attempt(shop_run("shop.remind_unpaid")).result == 1
    assert attempt(shop_run("shop.remind_unpaid")).result == 0
    assert [message.to for message in mail.outbox] == [["late@example.com"]]
    late.refresh_from_db()
    assert late.reminded_at is not None


def test_the_stock_becomes_what_was_counted_and_strange_articles_are_told(
    data_dir: Path, products: dict[str, Product], run_log: None
) -> None:
    Stock.objects.create(product=products["A1"], warehouse="main", quantity=5)
    Stock.objects.create(product=products["A1"], warehouse="east", quantity=5)
    run = attempt(shop_run("shop.reconcile_stock"))
    assert run.result == {"corrected": 2, "unknown": ["Z9"]}
    assert "Z9" in run.log
    stock = set(Stock.objects.values_list("warehouse", "product__sku", "quantity"))
    assert stock == {("main", "A1", 7), ("main", "B2", 3), ("east", "A1", 5)}
    assert list(Effect.objects.values_list("run_id", "what")) == [(run.pk, "stock of main")]


def test_a_stock_count_that_breaks_off_leaves_nothing_behind(data_dir: Path, products: dict[str, Product]) -> None:
    (data_dir / "stock" / "main.csv").write_text("sku,counted\nA1,7\nB2,-1\n")
    assert attempt(shop_run("shop.reconcile_stock")).status == "FAILED"
    assert not Stock.objects.exists()
    assert not Effect.objects.exists()


@pytest.mark.parametrize("warehouse", ["../../etc", "a/b", ""])
def test_a_warehouse_is_never_a_way_to_another_file(
    data_dir: Path, products: dict[str, Product], warehouse: str
) -> None:
    run = attempt(shop_run("shop.reconcile_stock", warehouse=warehouse))
    assert run.status == "FAILED"
    assert "is not the name of a warehouse" in run.error


def test_the_catalogue_is_imported_with_progress(data_dir: Path, products: dict[str, Product]) -> None:
    seen = []
    run = attempt(shop_run("shop.import_catalogue"), on_progress=lambda token, value: seen.append(value["done"]))
    assert run.result == {"rows": 3, "resumed_after": 0}
    assert seen == [1, 2, 3]
    assert set(Product.objects.values_list("sku", "name")) == {
        ("A1", "Apple"), ("B2", "Banana"), ("C3", "Cherry"), ("D4", "Date"),
    }  # fmt: skip


def test_an_import_that_broke_off_goes_on_at_the_next_row(data_dir: Path, products: dict[str, Product]) -> None:
    run = shop_run("shop.import_catalogue")
    Run.objects.filter(pk=run.pk).update(retries=1, backoff=timedelta(0))

    def break_off(token: int, value: dict[str, int]) -> None:
        if value["done"] == 2:
            raise OSError("the line is cut")

    assert attempt(run, on_progress=break_off).status == "READY"
    assert run.state == {"rows": 2}
    assert attempt(run).result == {"rows": 3, "resumed_after": 2}
    assert list(Effect.objects.values_list("what", flat=True)) == ["row 1", "row 2", "row 3"]


def test_the_rates_come_with_the_third_attempt(transactional_db: None) -> None:
    run = shop_run("shop.fetch_rates")
    for number in (1, 2):
        Run.objects.filter(pk=run.pk).update(backoff=timedelta(0))
        assert attempt(run).status == "READY"
        assert f"(attempt {number})" in run.attempts.latest("id").error
    assert attempt(run).status == "SUCCESSFUL"
    assert "EUR/USD" in run.result


def test_the_wrapped_command_clears_expired_sessions(transactional_db: None) -> None:
    now = timezone.now()
    Session.objects.create(session_key="old", session_data="", expire_date=now - timedelta(days=1))
    Session.objects.create(session_key="live", session_data="", expire_date=now + timedelta(days=1))
    assert attempt(shop_run("shop.clear_sessions")).status == "SUCCESSFUL"
    assert list(Session.objects.values_list("session_key", flat=True)) == ["live"]


def test_a_plain_call_of_a_job_runs_it_here(transactional_db: None) -> None:
    Session.objects.create(session_key="old", session_data="", expire_date=timezone.now() - timedelta(days=1))
    jobs.clear_sessions()
    assert not Session.objects.exists()
