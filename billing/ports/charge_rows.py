"""Charges as plain rows, for those who bring many: no object is made of each.

The order of the cells is that of ``CHARGE_CELLS``; words are the texts of their enums,
amounts are nano-units of one currency that the bringer names.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Protocol

from billing.core.charges import (
    Bucket,
    Charge,
    ChargeCategory,
    CostCategory,
    PricingCategory,
)
from billing.core.money import Money

ChargeCells = tuple[Any, ...]

#: Fields of a charge in the order of the cells.
CHARGE_CELLS = (
    *("account", "day", "region", "service", "usage_type", "record_type", "category"),
    *("pricing", "cost_category", "bucket", "job", "billed", "effective", "list_cost"),
    *("quantity", "unit", "is_estimated", "raw_billed", "resource_id"),
)
ACCOUNT, DAY = 0, 1


class ChargeRows(Protocol):
    """Takes rows of charges."""

    def stage_rows(
        self, import_id: int, rows: Sequence[ChargeCells], currency: str
    ) -> None:
        """Add one page of charges, as rows, to an import's staging area."""


def charge_of(cells: ChargeCells, currency: str) -> Charge:
    """Return the charge that a row of cells says."""
    found = dict(zip(CHARGE_CELLS, cells, strict=True))
    listed, quantity, day = found["list_cost"], found["quantity"], found["day"]
    assert isinstance(day, date)
    return Charge(
        **found
        | {
            "category": ChargeCategory(found["category"]),
            "pricing": PricingCategory(found["pricing"]),
            "cost_category": CostCategory(found["cost_category"]),
            "bucket": Bucket(found["bucket"]),
            "billed": Money(found["billed"], currency),
            "effective": Money(found["effective"], currency),
            "list_cost": None if listed is None else Money(listed, currency),
            "quantity": None if quantity is None else Decimal(quantity),
        }
    )
