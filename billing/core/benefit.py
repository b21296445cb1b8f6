"""Commitment benefit for all alike: what Savings Plans and reservations saved, shared.

AWS applies a commitment to whatever use it meets first, so that of two equal runs one
costs half of the other. Here every eligible use of one family, region and day costs the
same share of its list price. What one key gains the others lose: sums do not move.
Within one account only, since a day of an account moves as a whole. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction

from billing.core.bill_lines import Part
from billing.core.categories import running_type_of
from billing.core.charges import CostCategory, PricingCategory
from billing.core.gpus import family_of
from billing.core.money import Money, split, total
from billing.core.transfers import Basis, Rule, Transfer

#: Sizes of one family relative to each other, as reservations are applied by size:
#: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/apply_ri.html
_SIZES = {
    "nano": Fraction(1, 4),
    "micro": Fraction(1, 2),
    "small": Fraction(1),
    "medium": Fraction(2),
    "large": Fraction(4),
    "xlarge": Fraction(8),
}
_ELIGIBLE = frozenset({PricingCategory.STANDARD.value, PricingCategory.COMMITTED.value})
_WEIGHT_SCALE = 10**6


def benefit_transfers(
    parts: Sequence[Part], *, account: str, day: date
) -> list[Transfer]:
    """Return the transfers that give every eligible use the same share of its price."""
    groups: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        shape = running_type_of(part.line.usage_type)
        if shape and part.line.pricing in _ELIGIBLE:
            groups.setdefault((family_of(shape), part.line.region), []).append(part)
    return [
        transfer
        for (family, region), found in sorted(groups.items())
        if _is_mixed(found)
        for transfer in _level(found, family, region, account=account, day=day)
    ]


def _is_mixed(parts: Sequence[Part]) -> bool:
    keys = {part.to_key for part in parts}
    pricing = {part.line.pricing for part in parts}
    return len(keys) > 1 and PricingCategory.COMMITTED.value in pricing


def _level(
    parts: Sequence[Part], family: str, region: str, *, account: str, day: date
) -> list[Transfer]:
    weights = _weights(parts)
    if weights is None:
        return []  # Neither price nor quantity is known: the bill stands.
    keys = sorted(weights)
    sizes = [weights[key] for key in keys]
    currency = parts[0].billed.currency
    gains = []
    for name in ("billed", "effective"):
        held = {key: Money.zero(currency) for key in keys}
        for part in parts:
            held[part.to_key] += getattr(part, name)
        should = split(total(held.values(), currency), sizes)
        if should is None:
            return []
        gains.append([due - held[key] for key, due in zip(keys, should, strict=True)])
    hub = max(range(len(keys)), key=lambda place: (sizes[place], keys[place]))
    return [
        _transfer(
            (keys[hub], keys[place]), (billed, effective), family, region,
            account=account, day=day, like=parts[0],
        )
        for place, (billed, effective) in enumerate(zip(*gains, strict=True))
        if place != hub and (billed.nanos or effective.nanos)
    ]  # fmt: skip


def _weights(parts: Sequence[Part]) -> dict[str, int] | None:
    """Return how much use each key had: at list price, else by size and hours."""
    weights: dict[str, int] = {}
    if all(part.list_cost is not None for part in parts):
        for part in parts:
            cost = part.list_cost.nanos if part.list_cost else 0
            weights[part.to_key] = weights.get(part.to_key, 0) + max(0, cost)
        return weights
    for part in parts:
        hours = part.line.quantity
        size = size_of(running_type_of(part.line.usage_type))
        if hours is None or size is None:
            return None
        use = Fraction(hours) * size * Fraction(part.weight, part.of) * _WEIGHT_SCALE
        weights[part.to_key] = weights.get(part.to_key, 0) + max(0, round(use))
    return weights


def size_of(instance_type: str) -> Fraction | None:
    """Return a type's size within its family; None when it has no comparable one.

    >>> size_of("p5.48xlarge"), size_of("g5.large"), size_of("x1.metal")
    (Fraction(384, 1), Fraction(4, 1), None)
    """
    size = instance_type.rpartition(".")[2]
    if size in _SIZES:
        return _SIZES[size]
    count = size.removesuffix("xlarge")
    if size.endswith("xlarge") and count.isdecimal():
        return Fraction(Decimal(count)) * _SIZES["xlarge"]
    return None


def _transfer(
    keys: tuple[str, str],
    amounts: tuple[Money, Money],
    family: str,
    region: str,
    *,
    account: str,
    day: date,
    like: Part,
) -> Transfer:
    """Return the move between two keys; it goes to who pays more afterwards."""
    (giver, taker), (billed, effective) = keys, amounts
    if (effective.nanos, billed.nanos) < (0, 0):
        giver, taker, billed, effective = taker, giver, -billed, -effective
    listed = None if like.list_cost is None else Money.zero(billed.currency)
    return Transfer(
        account=account,
        day=day,
        region=region,
        service=like.line.service,
        usage_type=f"{family}.*",
        pricing=PricingCategory.COMMITTED.value,
        cost_category=CostCategory.COMPUTE.value,
        resource_id="",
        from_key=giver,
        to_key=taker,
        billed=billed,
        effective=effective,
        list_cost=listed,
        rule=Rule.COMMITMENT,
        basis=Basis.ALLOCATED,
        evidence=f"commitment benefit of {family} shared by use",
    )
