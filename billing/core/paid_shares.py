"""Which share of the public price an account really pays for a family, by its last bills.

Savings Plans and reservations land where AWS puts them, so the price of an hour that is
not billed yet is guessed from hours that are: effective cost / public price of the last
complete days, for each account and family. Without such days nothing is guessed. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from billing.core.accrual import AccruedCell
from billing.core.fleet import Lifecycle
from billing.core.gpus import family_of
from billing.core.money import Money
from billing.core.periods import DAY
from billing.core.usage import ResourceKind

#: Days of the bill that are looked at.
LOOKBACK = 7 * DAY
#: A bill that is complete only up to longer ago says nothing about today.
RECENT = 10 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledHours:
    """On-demand hours of one type in one region of the bill, covered or not.

    Attributes:
        list_cost: As the bill itself tells it; None when it does not.
    """

    account: str
    instance_type: str
    region: str
    hours: Decimal
    effective: Money
    list_cost: Money | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidShare:
    """What one account paid for a family, beside its public price.

    Attributes:
        since / until: Billing days, half-open.
    """

    account: str
    family: str
    effective: Money
    list_cost: Money
    since: date
    until: date

    @property
    def share(self) -> Fraction | None:
        """Return paid / public; None when that is no share of it."""
        if self.list_cost.nanos <= 0 or self.effective.nanos <= 0:
            return None
        found = Fraction(self.effective.nanos, self.list_cost.nanos)
        return found if found <= 1 else None

    @property
    def text(self) -> str:
        """Return it for a person, such as ``81 % of list price, …``."""
        percent = round(float((self.share or Fraction(1)) * 100), 1)
        last = self.until - timedelta(days=1)
        return (
            f"{self.family} in {self.account}: {percent:g} % of list price, "
            f"as billed {self.since} to {last}"
        )


#: Price of an hour of a type in a region, in nano-units of the ledger's currency.
PriceOf = Callable[[str, str], int | None]


def paid_shares(
    hours: Iterable[BilledHours], price_of: PriceOf, since: date, until: date
) -> list[PaidShare]:
    """Return the shares that hours of the bill tell, by account and family.

    A family with hours whose public price nobody knows has none: it would be too low.
    """
    sums: dict[tuple[str, str], tuple[Money, Money] | None] = {}
    for one in hours:
        key = one.account, family_of(one.instance_type)
        public = one.list_cost or _public(one, price_of)
        before = sums.get(key, (Money.zero(one.effective.currency),) * 2)
        if public is None or before is None:
            sums[key] = None
            continue
        sums[key] = before[0] + one.effective, before[1] + public
    return [
        PaidShare(
            account=account, family=family, effective=both[0], list_cost=both[1],
            since=since, until=until,
        )
        for (account, family), both in sorted(sums.items())
        if both is not None and both[1].nanos > 0
    ]  # fmt: skip


def _public(one: BilledHours, price_of: PriceOf) -> Money | None:
    nanos = price_of(one.instance_type, one.region)
    if nanos is None:
        return None
    return Money(round(Fraction(one.hours) * nanos), one.effective.currency)


def concerned(cell: AccruedCell) -> tuple[str, str] | None:
    """Return the account and family whose share a cell is priced by; None when none."""
    key = cell.key
    is_hourly = (
        key.kind is ResourceKind.INSTANCE and key.lifecycle is Lifecycle.ON_DEMAND
    )
    return (key.account, family_of(key.shape)) if is_hourly else None


def as_paid(
    cells: Iterable[AccruedCell], shares: Mapping[tuple[str, str], Fraction]
) -> list[AccruedCell]:
    """Return cells at what the account pays; those without a share stay as they are."""
    found = []
    for cell in cells:
        share = shares.get(concerned(cell) or ("", ""))
        if share is None or share == 1:
            found.append(cell)
            continue
        amount = Money(round(cell.amount.nanos * share), cell.amount.currency)
        found.append(replace(cell, amount=amount))
    return found
