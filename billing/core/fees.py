"""Which line of the bill is the fee of a reservation that was paid at purchase.

AWS names no fee for a Capacity Block, so it is looked for among the lines of the days
around the purchase: one reservation, one kind of line, else nothing is taken. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Protocol, TypeVar

from billing.core.money import Money, total
from billing.core.periods import DAY, day_of
from billing.core.resources import Reservation, ReservationKind

#: What a usage type of a fee holds, in lower case.
_WORDS = {
    ReservationKind.CAPACITY_BLOCK: ("capacityblock",),
    ReservationKind.TRAINING_PLAN: ("trainingplan", "flexibletraining"),
}
#: AWS bills a fee up to 12 hours after the purchase, so maybe on the next day.
_DAYS = 2


class FeeLine(Protocol):
    """A line of the bill, as far as a fee is told by it."""

    @property
    def account(self) -> str:
        """Return who pays."""

    @property
    def day(self) -> date:
        """Return the billing day."""

    @property
    def usage_type(self) -> str:
        """Return what was used."""

    @property
    def billed(self) -> Money:
        """Return what is invoiced."""

    @property
    def is_credit(self) -> bool:
        """Tell whether it is a credit or a refund."""


Line = TypeVar("Line", bound=FeeLine)


def fee_days(held: Reservation) -> tuple[date, date] | None:
    """Return the billing days, half-open, in which a fee was paid; None if unknown."""
    if held.bought_at is None or not held.is_prepaid:
        return None
    day = day_of(held.bought_at)
    return day, day + _DAYS * DAY


def fee_lines(
    held: Reservation, others: Iterable[Reservation], lines: Iterable[Line]
) -> Sequence[Line]:
    """Return the lines that are a reservation's fee; none when they may be another's.

    ``others`` may hold the reservation itself. Two of one account and type, bought at
    about the same time, cannot be told apart.
    """
    days = fee_days(held)
    if days is None or any(_is_rival(held, one) for one in others):
        return ()
    since, until = days
    return [
        line
        for line in lines
        if line.account == held.account
        and since <= line.day < until
        and not line.is_credit
        and line.billed.nanos > 0
        and _names(line.usage_type, held)
    ]


def fee_of(lines: Sequence[FeeLine]) -> Money | None:
    """Return the sum of a fee's lines; None when there are none."""
    if not lines:
        return None
    return total((line.billed for line in lines), lines[0].billed.currency)


def _names(usage_type: str, held: Reservation) -> bool:
    text = usage_type.lower()
    is_fee = any(word in text.replace("-", "") for word in _WORDS[held.kind])
    return is_fee and text.endswith(held.instance_type.lower())


def _is_rival(held: Reservation, other: Reservation) -> bool:
    is_other = other.reservation_id != held.reservation_id
    is_like = (other.kind, other.account, other.instance_type) == (
        held.kind,
        held.account,
        held.instance_type,
    )
    mine, theirs = fee_days(held), fee_days(other)
    if not is_other or not is_like or mine is None or theirs is None:
        return False
    return mine[0] < theirs[1] and theirs[0] < mine[1]
