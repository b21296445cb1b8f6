"""What an interval is priced by: its price keys and how many units of each it uses.

An instance has one key; a volume one for its size and one for each performance beyond
what comes with it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from billing.core.fleet import Lifecycle
from billing.core.prices import PriceKey, Purchase
from billing.core.usage import ResourceKind, UsageInterval

_PURCHASES = {
    Lifecycle.ON_DEMAND: Purchase.ON_DEMAND,
    Lifecycle.SPOT: Purchase.SPOT,
    Lifecycle.CAPACITY_BLOCK: Purchase.CAPACITY_BLOCK,
}
#: Performance that has a price, and how much of it comes with the volume.
_INCLUDED = {
    "ebs:gp3:iops": 3000,
    "ebs:gp3:throughput": 125,
    "ebs:io1:iops": 0,
    "ebs:io2:iops": 0,
}


def price_keys(interval: UsageInterval) -> tuple[PriceKey, ...]:
    """Return the keys of every price that an interval may need.

    An instance has one, a volume one for its size and one for each performance
    beyond what is included.
    """
    return tuple(key for key, _ in quantities(interval))


def quantities(interval: UsageInterval) -> tuple[tuple[PriceKey, int], ...]:
    """Return each price key of an interval with how many units of it are used."""
    return _quantities(
        interval.kind,
        interval.lifecycle,
        interval.region,
        interval.zone,
        interval.shape,
        interval.platform,
        interval.tenancy,
        interval.size_gib,
        interval.iops,
        interval.throughput_mibps,
    )


def count_price_keys(intervals: Iterable[UsageInterval]) -> dict[PriceKey, int]:
    """Return every price key that intervals need, with how many of them need it.

    Fleets hold few shapes: each is looked at once.
    """
    shapes: dict[int, tuple[tuple[tuple[PriceKey, int], ...], int]] = {}
    for interval in intervals:
        found = quantities(interval)
        _, count = shapes.get(id(found), (found, 0))
        shapes[id(found)] = (found, count + 1)  # Kept here, so its id stays its own.
    counts: dict[PriceKey, int] = {}
    for found, count in shapes.values():
        for key, _ in found:
            counts[key] = counts.get(key, 0) + count
    return counts


@lru_cache(maxsize=65_536)
def _quantities(
    kind: ResourceKind,
    lifecycle: Lifecycle,
    region: str,
    zone: str,
    shape: str,
    platform: str,
    tenancy: str,
    *sizes: int | None,
) -> tuple[tuple[PriceKey, int], ...]:
    """Return what `quantities` does; fleets hold few shapes and many intervals."""
    if kind is ResourceKind.INSTANCE:
        purchase = _PURCHASES[lifecycle]
        key = PriceKey(
            region=region,
            product=shape,
            purchase=purchase,
            platform=platform,
            tenancy=tenancy,
            zone=zone if purchase is Purchase.SPOT else "",
        )
        return ((key, 1),)
    found = []
    for suffix, amount in zip(("", ":iops", ":throughput"), sizes, strict=True):
        product = f"ebs:{shape}{suffix}"
        has_price = not suffix or product in _INCLUDED
        units = (amount or 0) - _INCLUDED.get(product, 0)
        if has_price and units > 0:
            found.append((PriceKey(region=region, product=product), units))
    return tuple(found)
