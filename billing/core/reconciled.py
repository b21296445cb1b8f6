"""What reconciliation says: days of jobs, reasons, and how far off provisional cost was.

Values, and the errors they sum up to. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from fractions import Fraction

from billing.core.charges import CostCategory, PricingCategory
from billing.core.money import Money, total

#: A day's compute below this says nothing about accuracy: a cent is a percent of it.
JUDGED_FROM = Money.of("1")


class Reason(StrEnum):
    """Why the bill says another amount than running time x price."""

    NOT_COMPLETE = "day not complete"
    UNSEEN = "instance unseen"
    ENDS = "end between two polls"
    MINIMUM = "seconds at starts, minimum"
    TAG = "tag late or changed"
    NOT_BILLED = "time not billed"
    COMMITTED = "savings plan or reservation cover"
    SPOT_PRICE = "spot price"
    PRICE_CHANGED = "price changed"
    DISCOUNT = "other price than the list's"
    NO_PRICE = "no price known"
    STORAGE = "storage not accrued"
    NETWORK = "network not accrued"
    OTHER = "other services"


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledLine:
    """What the bill says of one key on one day, before credits and refunds.

    Attributes:
        key: A job or ``bucket:*``.
        shape: Instance type; "" for anything but running instances.
        hours: Instance hours; None when the bill does not count them.
    """

    key: str
    account: str
    day: date
    region: str
    shape: str
    cost_category: CostCategory
    pricing: PricingCategory
    billed: Money
    effective: Money
    hours: Fraction | None = None


#: Account, day, region, shape and whether it is spot: what hours are counted by.
Pool = tuple[str, date, str, str, bool]
Place = tuple[str, date]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known about days and prices, beside the amounts.

    Attributes:
        complete: ``(account, day)`` whose bill is complete.
        watched: ``(account, day)`` that the inventory watched from start to end.
        starts: How many instances started in a pool.
        doubtful: Hours of a pool in which instances may have run or not: between the
            poll that saw them last and the one that did not.
        repriced: Pools whose list price changed on their day.
        unpriced: ``(job, shape)`` without a known price.
        shares: Which share of the price an account paid for a family by the bills
            before a day, as answers of that day counted.
    """

    complete: Collection[Place]
    watched: Collection[Place]
    starts: Mapping[Pool, int]
    doubtful: Mapping[Pool, Fraction]
    repriced: Collection[Pool] = ()
    unpriced: Collection[tuple[str, str]] = ()
    shares: Mapping[tuple[str, str, date], Fraction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDay:
    """One job (or bucket) of one account on one day.

    Attributes:
        compute: Billed and provisional cost of running instances alone.
        on_demand: The same of those that the bill prices on demand, by no commitment;
            at the whole price, as the share is what commitments make it.
        reasons: They sum to ``billed - provisional``, largest first.
    """

    day: date
    key: str
    account: str
    billed: Money
    provisional: Money
    compute: tuple[Money, Money]
    on_demand: tuple[Money, Money]
    reasons: tuple[tuple[Reason, Money], ...]
    is_complete: bool
    is_watched: bool

    @property
    def difference(self) -> Money:
        """Return by how much the bill is above what running time said."""
        return self.billed - self.provisional

    @property
    def error(self) -> Fraction | None:
        """Return the error of compute as a share of the bill's; None when not judged."""
        return share_off(*self.compute)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How well provisional compute met the bill, over days complete and watched.

    Attributes:
        job_days: How many were judged.
        median / worst: Share of the bill by which one job and day was off; None when
            none was judged.
        overall: The same of all of them together, with its sign: above 0 was too much.
    """

    job_days: int
    median: Fraction | None
    worst: Fraction | None
    overall: Fraction | None


def score(days: Iterable[JobDay], *, on_demand_only: bool = False) -> Score:
    """Say how far provisional compute was from the bill, over what can be judged."""
    pairs = [
        one.on_demand if on_demand_only else one.compute
        for one in days
        if one.is_complete and one.is_watched
    ]
    judged = [pair for pair in pairs if share_off(*pair) is not None]
    shares = sorted(share for pair in judged if (share := share_off(*pair)) is not None)
    if not shares:
        return Score(job_days=0, median=None, worst=None, overall=None)
    currency = judged[0][0].currency
    billed = total((pair[0] for pair in judged), currency)
    accrued = total((pair[1] for pair in judged), currency)
    return Score(
        job_days=len(shares),
        median=_median(shares),
        worst=shares[-1],
        overall=Fraction(accrued.nanos - billed.nanos, billed.nanos),
    )


def share_off(billed: Money, accrued: Money) -> Fraction | None:
    """Return by which share of the bill it was off; None when that is not judged."""
    if billed.nanos < JUDGED_FROM.nanos:
        return None
    return Fraction(abs(accrued.nanos - billed.nanos), billed.nanos)


def _median(ordered: Sequence[Fraction]) -> Fraction:
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
