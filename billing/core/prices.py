"""Prices per hour: their keys, values and the order in which they are trusted.

A missing price is None, never zero. Choosing one product among those a price list
returns, and refusing implausible ones, is pure and lives here too
(``billing.core.price_list``). Knows nothing of where prices are fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from billing.core.money import Rate


class Purchase(StrEnum):
    """Ways to buy capacity; names of the contract's `--purchase`."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    SAVINGS_PLAN = "savings-plan"
    RESERVED = "reserved"
    CAPACITY_BLOCK = "capacity-block"
    ODCR = "odcr"
    TRAINING_PLAN = "training-plan"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class PriceKey:
    """What a price is for.

    Attributes:
        product: Instance type (``p5.48xlarge``), or ``ebs:gp3`` for one GiB of volume,
            ``ebs:gp3:iops``, ``ebs:gp3:throughput``; ``sagemaker:training:ml.…``,
            ``fsx:lustre:…`` for one GiB, ``nat-gateway``.
        zone: Availability zone for spot; the reservation's own id for what was paid at
            purchase (capacity block, training plan); a Savings Plan's terms
            (``billing.core.plan_rates``); "" otherwise.
    """

    region: str
    product: str
    purchase: Purchase = Purchase.ON_DEMAND
    platform: str = "Linux/UNIX"
    tenancy: str = "default"
    zone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """One price and where it comes from.

    Attributes:
        rate: Price per unit and hour (monthly volume prices / 730 h).
        source: Such as ``price list``, ``spot price history``, ``snapshot`` or
            ``configuration``.
        as_of: When the source stated it (its publication or history time).
        effective_from: Since when it holds, for spot history; None: until replaced.
    """

    key: PriceKey
    rate: Rate
    source: str
    as_of: datetime
    effective_from: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedPrice:
    """A price that was not believed, and why.

    Attributes:
        last_good: The price kept instead; None when there was none.
    """

    price: Price
    reason: str
    last_good: Price | None
