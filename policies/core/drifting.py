"""Drift: how far a running job left what was approved for it, all its grants together.

What is unknown never counts. A departure stops nothing that runs: grants lapse, and
people are asked again. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from billing.core.money import Money, total
from policies.core.grants import Grant
from policies.core.quantities import money_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """What the live grants of one job allow together.

    Attributes:
        instances: At once, by instance type.
        ceiling: None when one of them had no price.
        drift: Share by which it may be exceeded: the strictest of all.
    """

    instances: Mapping[str, int]
    instance_hours: Fraction
    ceiling: Money | None
    drift: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What the fleet and the bill say of one job; None is unknown.

    Attributes:
        instances: GPU instances that run now, by type; part of one where it is shared.
        instance_hours / cost: Since the first of its live grants.
    """

    instances: Mapping[str, Fraction] = field(default_factory=dict)
    instance_hours: Fraction | None = None
    cost: Money | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """One way in which a job left its envelope.

    Attributes:
        told: The whole as a clause, such as ``it runs on 10 instances, approved are 8``.
        approved / now / difference: The same in parts, for a card.
    """

    what: str
    told: str
    approved: str
    now: str
    difference: str


def approved_by(grants: Iterable[Grant]) -> Approved | None:
    """Return what grants of one job allow together; None without any."""
    live = list(grants)
    if not live:
        return None
    instances: dict[str, int] = {}
    for one in live:
        shape = one.envelope.instance_type
        instances[shape] = instances.get(shape, 0) + one.envelope.count
    ceilings = [one.envelope.cost_ceiling for one in live]
    known = [one for one in ceilings if one is not None]
    same = len({one.currency for one in known}) == 1 and len(known) == len(live)
    return Approved(
        instances=instances,
        instance_hours=sum(
            (one.envelope.count * one.envelope.hours for one in live), Fraction(0)
        ),
        ceiling=total(known, known[0].currency) if same else None,
        drift=min(one.drift for one in live),
    )


def departures(approved: Approved, running: Running) -> tuple[Departure, ...]:
    """Return how a job left its envelope by more than the drift; empty: it did not."""
    found = (
        _other_types(approved, running),
        *(
            _count(approved, running, shape, several=len(approved.instances) > 1)
            for shape in sorted(approved.instances)
        ),
        _hours(approved, running),
        _cost(approved, running),
    )
    return tuple(one for one in found if one is not None)


def _other_types(approved: Approved, running: Running) -> Departure | None:
    others = sorted(running.instances.keys() - approved.instances.keys())
    if not others:
        return None
    was, now = ", ".join(sorted(approved.instances)), ", ".join(others)
    return Departure(
        what="instance type",
        told=f"it runs on {now}, approved is {was}",
        approved=was,
        now=now,
        difference=f"{now} was not approved",
    )


def _count(
    approved: Approved, running: Running, shape: str, *, several: bool
) -> Departure | None:
    most = approved.instances[shape]
    count = running.instances.get(shape, Fraction(0))
    if count <= most * (1 + approved.drift):
        return None
    of = f" of {shape}" if several else ""
    return Departure(
        what="instances",
        told=f"it runs on {_number(count)} instances{of}, approved are {most}",
        approved=f"{most} x {shape}",
        now=f"{_number(count)} x {shape}",
        difference=f"{_number(count - most)} more ({_share(count, most)})",
    )


def _hours(approved: Approved, running: Running) -> Departure | None:
    used, most = running.instance_hours, approved.instance_hours
    if used is None or used <= most * (1 + approved.drift):
        return None
    return Departure(
        what="instance hours",
        told=f"it has used {_number(used)} instance hours, approved are"
        f" {_number(most)}",
        approved=_number(most),
        now=_number(used),
        difference=f"{_number(used - most)} more ({_share(used, most)})",
    )


def _cost(approved: Approved, running: Running) -> Departure | None:
    cost, most = running.cost, approved.ceiling
    if cost is None or most is None or cost.currency != most.currency:
        return None
    if cost.nanos <= most.nanos * (1 + approved.drift):
        return None
    more = cost - most
    return Departure(
        what="cost",
        told=f"it has cost {money_text(cost)}, approved are {money_text(most)}",
        approved=f"at most {most}",
        now=str(cost),
        difference=f"{more} more ({_share(cost.nanos, most.nanos)})",
    )


def _share(now: Fraction | int, was: Fraction | int) -> str:
    """Return by how much something grew.

    >>> _share(10, 8), _share(3, 0)
    ('+25 %', 'from nothing')
    """
    if not was:
        return "from nothing"
    return f"+{float(100 * (Fraction(now) / was - 1)):.0f} %"


def _number(value: Fraction | int) -> str:
    """Return a number as people write it, at most to the hundredth.

    >>> _number(Fraction(72)), _number(Fraction(5, 2)), _number(Fraction(4000, 3))
    ('72', '2.5', '1333.33')
    """
    return f"{float(value):.2f}".rstrip("0").rstrip(".")
