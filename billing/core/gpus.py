"""Accelerators of instance types, and what the shipped price snapshot says of them.

An unknown type is None, never zero accelerators. Knows no network and no clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.data import gpu_prices, gpu_types
from billing.core.money import USD, Rate, nanos_from_text
from billing.core.periods import utc
from billing.core.prices import Price, PriceKey, Purchase

#: Volume prices are stated per month; in gpucost a month has this many hours.
HOURS_PER_MONTH = 730
SNAPSHOT_SOURCE = "snapshot"

_EIGHTHS = 8
_ROWS = {**gpu_types.DOCUMENTED, **gpu_types.DESCRIBED}
_MANAGED_PREFIX = "ml."


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerators:
    """What one instance of a type holds.

    Attributes:
        model: Such as ``H100`` or ``Trainium2``.
        count: Devices that a program sees.
        share: Part of a physical device that each one is; 1 for whole devices.
        memory_mib: Memory of each device (of the part, when it is one).
    """

    instance_type: str
    manufacturer: str
    model: str
    count: int
    share: Fraction
    memory_mib: int

    @property
    def physical(self) -> Fraction:
        """Return how many physical accelerators the type holds, maybe a fraction."""
        return self.count * self.share


def accelerators(instance_type: str) -> Accelerators | None:
    """Return the accelerators of a type; None when the type is not known to have any.

    A SageMaker type (``ml.p4d.24xlarge``) is answered as its EC2 type.

    >>> found = accelerators("p5.48xlarge")
    >>> (found.count, found.model) if found else None
    (8, 'H100')
    """
    name = bare_type(instance_type)
    row = _ROWS.get(name)
    if row is None:
        return None
    manufacturer, model, eighths, memory_mib = row
    is_part = eighths < _EIGHTHS
    return Accelerators(
        instance_type=name,
        manufacturer=manufacturer,
        model=model,
        count=1 if is_part else eighths // _EIGHTHS,
        share=Fraction(eighths, _EIGHTHS) if is_part else Fraction(1),
        memory_mib=memory_mib,
    )


def gpu_count(instance_type: str) -> int | None:
    """Return how many accelerators a program sees on a type; None when unknown."""
    found = accelerators(instance_type)
    return None if found is None else found.count


def is_gpu_type(instance_type: str) -> bool:
    """Tell whether a type is known to hold accelerators."""
    return bare_type(instance_type) in _ROWS


def gpu_types_known() -> tuple[str, ...]:
    """Return every known accelerator type, sorted."""
    return tuple(sorted(_ROWS))


def same_model(instance_type: str) -> tuple[str, ...]:
    """Return the other types with the same whole accelerators, sorted.

    >>> same_model("p5.48xlarge")
    ('p5.4xlarge',)
    """
    wanted = accelerators(instance_type)
    if wanted is None:
        return ()
    like = (wanted.model, wanted.memory_mib)
    return tuple(
        name
        for name, (_, model, _, memory_mib) in sorted(_ROWS.items())
        if (model, memory_mib) == like and name != wanted.instance_type
    )


def bare_type(instance_type: str) -> str:
    """Return the EC2 type of a SageMaker type; other types unchanged."""
    return instance_type.removeprefix(_MANAGED_PREFIX)


def family_of(instance_type: str) -> str:
    """Return the family of a type, without the mark of SageMaker.

    >>> family_of("ml.p6-b200.48xlarge"), family_of("g6f.large")
    ('p6-b200', 'g6f')
    """
    return bare_type(instance_type).partition(".")[0]


def snapshot_price(key: PriceKey) -> Price | None:
    """Return the shipped price of a key; None when the snapshot holds none.

    The snapshot knows on-demand Linux on shared tenancy, volumes, and a few others.
    """
    if key.product.startswith(("ebs:", "fsx:")):
        return _snapshot_volume(key)
    if key.product == gpu_prices.NAT_GATEWAY:
        return _snapshot_gateway(key)
    is_plain = (
        key.purchase is Purchase.ON_DEMAND
        and key.platform == "Linux/UNIX"
        and key.tenancy == "default"
    )
    text = gpu_prices.INSTANCES.get(key.region, {}).get(key.product)
    if not is_plain or text is None:
        return None
    return Price(
        key=key,
        rate=Rate.of(text, USD),
        source=SNAPSHOT_SOURCE,
        as_of=_instant(gpu_prices.PUBLISHED[key.region]),
    )


def snapshot_regions(instance_type: str) -> tuple[str, ...]:
    """Return the regions for which the snapshot prices a type, sorted."""
    return tuple(
        region
        for region, prices in sorted(gpu_prices.INSTANCES.items())
        if instance_type in prices
    )


def snapshot_age(now: datetime) -> timedelta:
    """Return the age of the oldest part of the snapshot."""
    published = [*gpu_prices.PUBLISHED.values(), gpu_prices.VOLUMES_PUBLISHED]
    return now - min(_instant(text) for text in published)


def hourly(monthly_text: str, currency: str = USD) -> Rate:
    """Turn a price per month into one per hour, rounded half-even to a nano-unit.

    >>> hourly("0.08").nanos
    109589
    """
    monthly = nanos_from_text(monthly_text)
    return Rate(round(Fraction(monthly, HOURS_PER_MONTH)), currency)


def _snapshot_volume(key: PriceKey) -> Price | None:
    text = gpu_prices.VOLUMES.get(key.region, {}).get(key.product)
    if text is None or key.purchase is not Purchase.ON_DEMAND:
        return None
    return Price(
        key=key,
        rate=hourly(text),
        source=SNAPSHOT_SOURCE,
        as_of=_instant(gpu_prices.VOLUMES_PUBLISHED),
    )


def _snapshot_gateway(key: PriceKey) -> Price | None:
    text = gpu_prices.NAT_GATEWAYS.get(key.region)
    if text is None or key.purchase is not Purchase.ON_DEMAND:
        return None
    return Price(
        key=key,
        rate=Rate.of(text, USD),
        source=SNAPSHOT_SOURCE,
        as_of=_instant(gpu_prices.NAT_GATEWAYS_PUBLISHED),
    )


def _instant(text: str) -> datetime:
    return utc(datetime.fromisoformat(text))
