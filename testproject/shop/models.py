"""What a small shop keeps: goods, stock, orders, and what its jobs did."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils import timezone


class Product(models.Model):
    sku = models.CharField("article number", max_length=20, unique=True)
    name = models.CharField(max_length=100)
    price = models.DecimalField(max_digits=8, decimal_places=2)

    class Meta:
        ordering: ClassVar = ["sku"]

    def __str__(self) -> str:
        return self.sku


class Stock(models.Model):
    """How many pieces of a product the shop believes to have in a warehouse."""

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="stock")
    warehouse = models.CharField(max_length=50)
    quantity = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "stock"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["warehouse", "product"], name="shop_stock_product"),
        ]

    def __str__(self) -> str:
        return f"{self.quantity} pieces of product {self.product_id} in {self.warehouse}"


class Order(models.Model):
    product = models.ForeignKey(Product, on_delete=models.PROTECT, related_name="orders")
    quantity = models.PositiveIntegerField(default=1)
    email = models.EmailField()
    placed_at = models.DateTimeField(default=timezone.now)
    paid_at = models.DateTimeField(null=True, blank=True)
    reminded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-placed_at"]

    def __str__(self) -> str:
        return f"order {self.pk}"


class Effect(models.Model):
    """One thing that a run did. The demo counts them: no constraint keeps a second one of the same kind out."""

    run_id = models.BigIntegerField(db_index=True)
    job_name = models.CharField(max_length=200)
    what = models.CharField(max_length=100)
    token = models.BigIntegerField()
    worker = models.CharField(max_length=200)
    written_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.what} by run {self.run_id}"
