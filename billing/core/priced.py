"""What an interval is priced by: its price keys and how many units of each it uses.

An instance has one key; a volume one for its size and one for each performance beyond
what comes with it; a managed service its type and what it does there. What was paid at
purchase is priced by its own reservation. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from billing.core.charges import (
    BUCKET_PREFIX,
    Bucket,
    CostCategory,
    PricingCategory,
)
from billing.core.fleet import Lifecycle
from billing.core.prices import PriceKey, Purchase
from billing.core.usage import ResourceKind, UsageInterval

_PURCHASES = {
    Lifecycle.ON_DEMAND: Purchase.ON_DEMAND,
    Lifecycle.SPOT: Purchase.SPOT,
    Lifecycle.CAPACITY_BLOCK: Purchase.CAPACITY_BLOCK,
    Lifecycle.MANAGED_SPOT: Purchase.ON_DEMAND,
    Lifecycle.TRAINING_PLAN: Purchase.TRAINING_PLAN,
}
_PRICING = {
    Purchase.ON_DEMAND: PricingCategory.STANDARD,
    Purchase.SPOT: PricingCategory.DYNAMIC,
    Purchase.CAPACITY_BLOCK: PricingCategory.COMMITTED,
    Purchase.TRAINING_PLAN: PricingCategory.COMMITTED,
}
#: What exports call the service of instances, volumes, snapshots and NAT gateways.
EC2_SERVICE = "Amazon Elastic Compute Cloud"
_SERVICES = {
    CostCategory.MANAGED_SERVICE: "Amazon SageMaker",
    CostCategory.STORAGE: EC2_SERVICE,
}
#: Paid at purchase: an hour of it is a share of the fee of its own reservation.
PREPAID = frozenset({Purchase.CAPACITY_BLOCK, Purchase.TRAINING_PLAN})
#: What SageMaker sells a type for; one type has one price for each.
_COMPONENTS = {
    ResourceKind.TRAINING_JOB: "training",
    ResourceKind.WARM_POOL: "training",
    ResourceKind.CLUSTER_NODE: "cluster",
    ResourceKind.ENDPOINT: "hosting",
    ResourceKind.NOTEBOOK: "notebook",
    ResourceKind.STUDIO_APP: "studio",
}
_CATEGORIES = {
    ResourceKind.INSTANCE: CostCategory.COMPUTE,
    ResourceKind.UNUSED_CAPACITY: CostCategory.COMPUTE,
    ResourceKind.VOLUME: CostCategory.STORAGE,
    ResourceKind.SNAPSHOT: CostCategory.STORAGE,
    ResourceKind.FILE_SYSTEM: CostCategory.STORAGE,
    ResourceKind.NAT_GATEWAY: CostCategory.NETWORK,
}
_UNUSED = frozenset({ResourceKind.UNUSED_CAPACITY, ResourceKind.UNUSED_PLAN})
SNAPSHOT = "ebs:snapshot"
NAT_GATEWAY = "nat-gateway"
MANAGED_SPOT = "managed-spot:"
SERVERLESS = "serverless"
PREPAID_REASON = "paid at purchase, and its fee is not known"
SNAPSHOT_REASON = "snapshots are incremental: the bill tells what they hold"
SERVERLESS_REASON = "serverless: billed by use, not by time"
MANAGED_SPOT_REASON = "managed spot: AWS says afterwards how much of it is billed"
NO_PRICE_REASON = "no price known"
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
        (interval.region, interval.zone, interval.shape),
        (interval.platform, interval.tenancy, interval.reservation_id),
        (interval.size_gib, interval.iops, interval.throughput_mibps),
        (interval.units, interval.billed_s is not None),
    )


def count_price_keys(intervals: Iterable[UsageInterval]) -> dict[PriceKey, int]:
    """Return every price key that intervals need, with how many units of it they use.

    Fleets hold few shapes: each is looked at once.
    """
    shapes: dict[int, tuple[tuple[tuple[PriceKey, int], ...], int]] = {}
    for interval in intervals:
        found = quantities(interval)
        _, count = shapes.get(id(found), (found, 0))
        shapes[id(found)] = (found, count + 1)  # Kept here, so its id stays its own.
    counts: dict[PriceKey, int] = {}
    for found, count in shapes.values():
        for key, units in found:
            counts[key] = counts.get(key, 0) + count * units
    return counts


def is_published(key: PriceKey) -> bool:
    """Tell whether anybody publishes a price for a key."""
    return missing_reason(key) == NO_PRICE_REASON


def is_instance(key: PriceKey) -> bool:
    """Tell whether a key prices an EC2 instance, which has several ways to be bought."""
    return ":" not in key.product and key.product != NAT_GATEWAY


def product_text(product: str, purchase: Purchase) -> str:
    """Return what is bought and how, for people.

    >>> product_text("p5.48xlarge", Purchase.SPOT)
    'p5.48xlarge spot'
    >>> product_text("managed-spot:sagemaker:training:ml.g5.xlarge", Purchase.ON_DEMAND)
    'ml.g5.xlarge (SageMaker training) managed spot'
    """
    if product.startswith(MANAGED_SPOT):
        whole = product_text(product.removeprefix(MANAGED_SPOT), purchase)
        return f"{whole.removesuffix(f' {purchase}')} managed spot"
    kind, _, rest = product.partition(":")
    if kind == "sagemaker":
        component, _, shape = rest.partition(":")
        return f"{shape} (SageMaker {component}) {purchase}"
    if product == SNAPSHOT:
        return "EBS snapshots"
    if kind == "fsx":
        return f"FSx for {rest.replace(':', ' ').replace('lustre', 'Lustre', 1)}"
    return f"{product} {purchase}"


def missing_reason(key: PriceKey) -> str:
    """Say why a key has no price."""
    if key.purchase in PREPAID:
        return PREPAID_REASON
    if key.product == SNAPSHOT:
        return SNAPSHOT_REASON
    if key.product.endswith(f":{SERVERLESS}"):
        return SERVERLESS_REASON
    if key.product.startswith(MANAGED_SPOT):
        return MANAGED_SPOT_REASON
    return NO_PRICE_REASON


def category_of(kind: ResourceKind) -> CostCategory:
    """Return what the money for a kind of resource buys."""
    return _CATEGORIES.get(kind, CostCategory.MANAGED_SERVICE)


def category_of_product(product: str) -> CostCategory:
    """Return what the money for a priced product buys."""
    if product.startswith(("ebs:", "fsx:")):
        return CostCategory.STORAGE
    if product == NAT_GATEWAY:
        return CostCategory.NETWORK
    if product.startswith(("sagemaker:", MANAGED_SPOT)):
        return CostCategory.MANAGED_SERVICE
    return CostCategory.COMPUTE


def service_of(kind: ResourceKind) -> str:
    """Return what exports call the service of a kind of resource."""
    if kind is ResourceKind.FILE_SYSTEM:
        return "Amazon FSx"
    return _SERVICES.get(category_of(kind), EC2_SERVICE)


def pricing_of(lifecycle: Lifecycle) -> PricingCategory:
    """Return how the bill groups what was bought so."""
    if lifecycle is Lifecycle.MANAGED_SPOT:
        return PricingCategory.DYNAMIC
    return _PRICING[_PURCHASES[lifecycle]]


def pricing_of_purchase(purchase: Purchase) -> PricingCategory:
    """Return how the bill groups a way to buy."""
    return _PRICING[purchase]


def bucket_of(kind: ResourceKind) -> str:
    """Return the key that a kind's cost has whatever its tags say; "" when tags decide."""
    if kind in _UNUSED:
        return f"{BUCKET_PREFIX}{Bucket.COMMITMENT_UNUSED}"
    return ""


@lru_cache(maxsize=65_536)
def _quantities(
    kind: ResourceKind,
    lifecycle: Lifecycle,
    place: tuple[str, str, str],
    terms: tuple[str, str, str],
    sizes: tuple[int, int | None, int | None],
    counted: tuple[int, bool],
) -> tuple[tuple[PriceKey, int], ...]:
    """Return what `quantities` does; fleets hold few shapes and many intervals."""
    region, zone, shape = place
    units, is_final = counted
    if units == 0:
        return ()
    if kind is ResourceKind.VOLUME:
        return _volume(region, shape, sizes)
    if kind is ResourceKind.SNAPSHOT:
        return ((PriceKey(region=region, product=SNAPSHOT), 1),)
    if kind is ResourceKind.NAT_GATEWAY:
        return ((PriceKey(region=region, product=NAT_GATEWAY), 1),)
    if kind is ResourceKind.FILE_SYSTEM:
        product = f"fsx:{shape}"
        if sizes[2]:
            product = f"{product}:{sizes[2]}"
        return ((PriceKey(region=region, product=product), sizes[0]),)
    if _PURCHASES[lifecycle] in PREPAID:
        key = PriceKey(
            region=region,
            product=shape,
            purchase=_PURCHASES[lifecycle],
            zone=terms[2],
        )
        return ((key, units),)
    product = _product(kind, lifecycle, shape, is_final=is_final)
    return ((_hourly(product, lifecycle, (region, zone), terms), units),)


def _product(
    kind: ResourceKind, lifecycle: Lifecycle, shape: str, *, is_final: bool
) -> str:
    component = _COMPONENTS.get(kind)
    product = shape if component is None else f"sagemaker:{component}:{shape}"
    # AWS says at the end of a managed spot job how many of its seconds are billed.
    is_told_later = lifecycle is Lifecycle.MANAGED_SPOT and not is_final
    return f"{MANAGED_SPOT}{product}" if is_told_later else product


def _hourly(
    product: str, lifecycle: Lifecycle, place: tuple[str, str], terms: tuple[str, ...]
) -> PriceKey:
    purchase = _PURCHASES[lifecycle]
    region, zone = place
    platform, tenancy, _ = terms
    return PriceKey(
        region=region,
        product=product,
        purchase=purchase,
        platform=platform,
        tenancy=tenancy,
        zone=zone if purchase is Purchase.SPOT else "",
    )


def _volume(
    region: str, shape: str, sizes: tuple[int, int | None, int | None]
) -> tuple[tuple[PriceKey, int], ...]:
    found = []
    for suffix, amount in zip(("", ":iops", ":throughput"), sizes, strict=True):
        product = f"ebs:{shape}{suffix}"
        has_price = not suffix or product in _INCLUDED
        units = (amount or 0) - _INCLUDED.get(product, 0)
        if has_price and units > 0:
            found.append((PriceKey(region=region, product=product), units))
    return tuple(found)
