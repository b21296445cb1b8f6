"""Estimates of a run before it starts: values, lines and the range they make.

Compute is list price x count x hours; named overheads make the expected and the high
end. A missing price gives no estimate, never $0. Pure; prices come in as values.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from billing.core.money import Money, Rate
from billing.core.prices import Purchase


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRequest:
    """What somebody plans to run.

    Attributes:
        hours: Planned productive hours; wall-clock limit when ``is_time_limit``.
        is_time_limit: The scheduler ends it at ``hours``: factor 1, and the high end.
    """

    instance_type: str
    count: int
    hours: Fraction
    region: str
    purchase: Purchase = Purchase.ON_DEMAND
    job: str = ""
    is_time_limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateLine:
    """One named part of an estimate; the expected value is the sum of the lines."""

    name: str
    cost: Money
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another way to run the same; ``expected`` is None when its price is unknown."""

    what: str
    expected: Money | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The answer of `gpucost estimate`.

    Attributes:
        hourly: List price per hour of all instances.
        compute: ``hourly`` x hours, exactly.
        yours: The organisation's own price of one instance (discounts, overrides).
        price_source / price_as_of: Where the list price comes from.
    """

    request: EstimateRequest
    hourly: Rate
    compute: Money
    low: Money
    expected: Money
    high: Money
    lines: tuple[EstimateLine, ...]
    list_rate: Rate
    yours: Rate
    price_source: str
    price_as_of: datetime
    alternatives: tuple[Alternative, ...]
