"""What the ledger answers about cost: many small sums, so each is a plain tuple.

Knows no store.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from billing.core.money import Money


class CostCellOfDay(NamedTuple):
    """A sum of charges of one account and day sharing one key.

    Attributes:
        key: Value of the dimension grouped by; "" when not grouped.
        is_credit: True for credits and refunds, which stand apart from totals.
        billed_nanos / effective_nanos: Whole nano-units of the currency.
        list_nanos: None when any charge in the sum has no list cost.
    """

    day: date
    account: str
    key: str
    is_credit: bool
    billed_nanos: int
    effective_nanos: int
    list_nanos: int | None
    charges: int
    is_estimated: bool
    currency: str

    @property
    def billed(self) -> Money:
        """Return what is invoiced."""
        return Money(self.billed_nanos, self.currency)

    @property
    def effective(self) -> Money:
        """Return it with commitments spread over what they cover."""
        return Money(self.effective_nanos, self.currency)

    @property
    def list_cost(self) -> Money | None:
        """Return it at public prices; None when unknown."""
        if self.list_nanos is None:
            return None
        return Money(self.list_nanos, self.currency)
