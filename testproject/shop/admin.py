from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin

from .models import Effect, Order, Product, Stock

if TYPE_CHECKING:
    ProductBase = admin.ModelAdmin[Product]
    StockBase = admin.ModelAdmin[Stock]
    OrderBase = admin.ModelAdmin[Order]
    EffectBase = admin.ModelAdmin[Effect]
else:
    ProductBase = StockBase = OrderBase = EffectBase = admin.ModelAdmin


@admin.register(Product)
class ProductAdmin(ProductBase):
    list_display = ["sku", "name", "price"]
    search_fields = ["sku", "name"]


@admin.register(Stock)
class StockAdmin(StockBase):
    list_display = ["product", "warehouse", "quantity"]
    list_filter = ["warehouse"]
    list_select_related = ["product"]


@admin.register(Order)
class OrderAdmin(OrderBase):
    list_display = ["id", "product", "quantity", "email", "placed_at", "paid_at", "reminded_at"]
    list_select_related = ["product"]
    date_hierarchy = "placed_at"


@admin.register(Effect)
class EffectAdmin(EffectBase):
    list_display = ["what", "job_name", "run_id", "token", "worker", "written_at"]
    list_filter = ["job_name"]
