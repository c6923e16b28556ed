from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from django_leasejobs.worker.run_log import RunLogHandler, install_run_log
from testproject.shop.models import Product


@pytest.fixture
def data_dir(settings: Any, tmp_path: Path) -> Path:
    """A data folder of the test's own, with a stock count and a catalogue."""
    settings.DATA_DIR = tmp_path
    (tmp_path / "stock").mkdir()
    (tmp_path / "stock" / "main.csv").write_text("sku,counted\nA1,7\nB2,3\nZ9,1\n")
    (tmp_path / "catalogue.csv").write_text("sku,name,price\nA1,Apple,0.50\nC3,Cherry,4.00\nD4,Date,6.25\n")
    return tmp_path


@pytest.fixture
def products(transactional_db: None) -> dict[str, Product]:
    made = [Product(sku="A1", name="Apple", price="0.40"), Product(sku="B2", name="Banana", price="0.30")]
    return {product.sku: product for product in Product.objects.bulk_create(made) and Product.objects.all()}


@pytest.fixture
def run_log() -> Iterator[None]:
    """Let runs of this process keep their log, as those of a worker do."""
    root = logging.getLogger()
    level = root.level
    install_run_log()
    yield
    root.setLevel(level)
    for handler in [handler for handler in root.handlers if isinstance(handler, RunLogHandler)]:
        root.removeHandler(handler)
