"""What explains a figure: its lines, their prices, and how fresh they are.

Values only, handed from the use case to the views. Amounts are exact; None is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from billing.core.charges import Metric
from billing.core.money import Money, Rate
from billing.core.reconciled import Score
from billing.ports import Freshness

#: Where a fee paid at purchase goes: to the hours that it paid for.
HOURS = "the hours it paid for"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeLine:
    """Lines of the bill that are alike, summed over their days.

    Attributes:
        amount: In the metric that was asked for.
        days: How many billing days they are of, from ``since`` to ``until``.
        unit_price: ``amount / quantity``, for people; None without a quantity.
        is_open: True for a day that is not complete: the bill so far stands in for it.
        key: Whom the bill gives them to: a job or ``bucket:…``.
    """

    amount: Money
    key: str
    usage_type: str
    account: str
    region: str
    service: str
    record_type: str
    purchase: str
    category: str
    source: str
    since: date
    until: date
    days: int
    charges: int
    quantity: Decimal | None
    unit: str
    unit_price: Decimal | None
    billed: Money
    effective: Money
    list_cost: Money | None
    is_open: bool = False
    is_credit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferLine:
    """Cost that a rule moved to (positive) or away from (negative) the subject.

    Attributes:
        other: Where it came from or went: a job or ``bucket:…``.
        rule: The rule that moved it.
        basis: ``exact`` when the bill names the resource, else ``allocated``.
        evidence: Who said so and what it was split by, in words.
    """

    amount: Money
    other: str
    rule: str
    basis: str
    evidence: str
    usage_type: str
    account: str
    region: str
    category: str
    since: date
    until: date
    days: int
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTime:
    """Provisional cost: alike resources, their running time times a price.

    Attributes:
        count: Distinct resources.
        running: Time of all of them together.
        formula: ``3 x p5.48xlarge x 12.5 h x $55.04/h``.
        rate: Per hour of one resource; None when several prices applied.
        list_rate: Public price per hour where ``rate`` is the organisation's own.
        price_source / price_as_of: Of the newest price used.
        prices: How many prices applied over the time.
        resources: Ids, sorted.
        shape: Instance or volume type.
        share: Which share of the price counts, by the last bills; None for the whole.
        basis: How it was priced where that is not the price alone.
    """

    amount: Money
    what: str
    count: int
    running: timedelta
    formula: str
    account: str
    region: str
    purchase: str
    category: str
    rate: Rate | None
    list_rate: Rate | None
    price_source: str
    price_as_of: datetime | None
    prices: int
    since: date
    until: date
    days: int
    resources: tuple[str, ...]
    shape: str
    job: str = ""
    share: Fraction | None = None
    basis: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningNow:
    """Instances of one kind that run now; ``amount`` is what they add to the figure."""

    amount: Money
    formula: str
    what: str
    count: int
    region: str
    purchase: str
    rate: Rate | None
    price_source: str
    price_as_of: datetime | None


Line = ChargeLine | TransferLine | RunningTime | RunningNow


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A figure and everything it is made of.

    Attributes:
        figure: As typed, with its days.
        total: The figure, as every other answer shows it; None when it is unknown.
        lines: By amount descending; they sum to ``total`` exactly.
        difference: ``total`` minus the sum of the lines: zero, or a defect that is shown.
        sources: Freshness of every source; ``stale`` those too old, with why.
        unknown: What could not be priced and is in no line.
        per_hour: True when the figure is a burn rate.
        notes: How the figure came about, in words.
        accuracy: How far provisional compute was off in the last 30 days; None where
            nothing of the figure is provisional.
    """

    figure: str
    title: str
    currency: str
    metric: Metric
    since: datetime
    until: datetime
    as_of: datetime
    total: Money | None
    billed: Money
    provisional: Money
    lines: tuple[Line, ...]
    difference: Money
    billed_through: Mapping[str, datetime]
    sources: tuple[Freshness, ...]
    stale: tuple[Freshness, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    accuracy: Score | None = None
    per_hour: bool = False
