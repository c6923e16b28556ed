from __future__ import annotations

from collections.abc import Mapping

from .models import Product, Stock


def correct_stock(warehouse: str, counted: Mapping[str, int]) -> tuple[int, list[str]]:
    """Set the quantities to what was counted; return how many were wrong, and the articles nobody knows."""
    products = {product.sku: product for product in Product.objects.filter(sku__in=counted)}
    known = {row.product_id: row.quantity for row in Stock.objects.filter(warehouse=warehouse)}
    corrections = 0
    for sku, product in products.items():
        if known.get(product.pk) != counted[sku]:
            Stock.objects.update_or_create(warehouse=warehouse, product=product, defaults={"quantity": counted[sku]})
            corrections += 1
    return corrections, sorted(set(counted) - set(products))
