"""Lines of the bill behind a figure, as a protocol; the SQL adapter implements it.

Names roles only: no SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Protocol

from billing.core.charges import ChargeCategory, CostCategory, PricingCategory, Source
from billing.core.money import Money


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeFilter:
    """Which charges are meant; "" matches everything.

    Attributes:
        key: A job id, or ``bucket:…`` for what the bill gives to no job.
        team: Jobs of this team.
        purchase: The pricing category.
    """

    key: str = ""
    team: str = ""
    account: str = ""
    category: str = ""
    region: str = ""
    service: str = ""
    purchase: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeSum:
    """Charges of one account and day that are alike in every other word, summed.

    Attributes:
        key: The job, or ``bucket:…``, that the bill itself gives them to.
        list_cost: None when any of them has no list cost.
        quantity: Sum in ``unit``, for people: exact to about 15 digits; None when any
            of them reports none.
    """

    key: str
    source: Source
    account: str
    day: date
    region: str
    service: str
    usage_type: str
    record_type: str
    category: ChargeCategory
    pricing: PricingCategory
    cost_category: CostCategory
    unit: str
    billed: Money
    effective: Money
    list_cost: Money | None
    quantity: Decimal | None
    charges: int

    @property
    def is_credit(self) -> bool:
        """Tell whether these are credits or refunds."""
        return self.category in {ChargeCategory.CREDIT, ChargeCategory.REFUND}


class ChargeLines(Protocol):
    """The bill, line by line."""

    def charge_sums(
        self, since: date, until: date, wanted: ChargeFilter
    ) -> Sequence[ChargeSum]:
        """Return the charges of ``[since, until)`` by account, day and words."""
