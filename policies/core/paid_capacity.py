"""What a run costs beyond capacity that is paid for already, used or not. Pure.

A Capacity Block, an open reservation or a training plan costs the same with the run as
without it. Only what of the run fits into its free machines and hours is taken for paid;
what nobody knows to be free is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from billing.core.estimate import Estimate, EstimateRequest
from billing.core.money import Money, total
from billing.core.prices import Purchase
from billing.core.resources import Reservation, ReservationKind

_KINDS: Mapping[Purchase, ReservationKind] = {
    Purchase.CAPACITY_BLOCK: ReservationKind.CAPACITY_BLOCK,
    Purchase.ODCR: ReservationKind.ON_DEMAND,
    Purchase.TRAINING_PLAN: ReservationKind.TRAINING_PLAN,
}
#: Lines of an estimate that no capacity pays for.
_BESIDE_MACHINES = frozenset({"checkpoints"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidCapacity:
    """Free capacity that a run may use.

    Attributes:
        hours: Until the first of it ends; None: nobody knows an end.
    """

    instances: int
    hours: Fraction | None


def paid_capacity(
    plan: EstimateRequest, reservations: Iterable[Reservation], now: datetime
) -> PaidCapacity | None:
    """Return the free capacity of the kind that a plan wants to use; None without any."""
    kind = _KINDS.get(plan.purchase)
    fitting = [
        one
        for one in reservations
        if one.kind is kind
        and one.state == "active"
        and one.instance_type == plan.instance_type
        and one.region == plan.region
        and one.available
        and one.starts_at <= now
        and (one.ends_at is None or now < one.ends_at)
    ]
    if not fitting:
        return None
    ends = [one.ends_at for one in fitting if one.ends_at is not None]
    seconds = (min(ends) - now).total_seconds() if ends else None
    return PaidCapacity(
        instances=sum(one.available or 0 for one in fitting),
        hours=None if seconds is None else Fraction(int(seconds), 3600),
    )


def marginal_cost(found: Estimate, paid: PaidCapacity | None) -> Money:
    """Return the high end of what a run adds to what is paid for already."""
    if paid is None:
        return found.high
    plan = found.request
    beside = total(
        (line.cost for line in found.lines if line.name in _BESIDE_MACHINES),
        found.high.currency,
    )
    machines = found.high - beside
    free = Fraction(min(paid.instances, plan.count), plan.count)
    if paid.hours is not None:
        free *= min(paid.hours, plan.hours) / plan.hours
    return machines.scaled(1 - free) + beside


def counted_sentence(found: Estimate, marginal: Money) -> str:
    """Tell both amounts; "" when they are the same."""
    if marginal == found.high:
        return ""
    return (
        f"On capacity paid for already: high end {found.high} in full, {marginal} beyond"
        " what is paid."
    )
