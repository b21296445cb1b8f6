"""What keeping objects in S3 costs by storage class, and what ending it early costs.

List prices per GB-month of the first tier (https://aws.amazon.com/s3/pricing/, read
2026-11; the same three regions share them); a region or class that is not here is
unknown. S3 bills a GB as 2^30 bytes. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.money import Money

GIB = 2**30
STANDARD = "STANDARD"
#: A month of storage, for shares of it.
MONTH = timedelta(days=30)

_US = {
    STANDARD: Money.of("0.023"),
    "STANDARD_IA": Money.of("0.0125"),
    "ONEZONE_IA": Money.of("0.01"),
    "GLACIER_IR": Money.of("0.004"),
    "GLACIER": Money.of("0.0036"),
    "DEEP_ARCHIVE": Money.of("0.00099"),
}
#: Regions that share these prices.
REGIONS = ("us-east-1", "us-east-2", "us-west-2")
PRICES: Mapping[str, Mapping[str, Money]] = dict.fromkeys(REGIONS, _US)
#: Shortest time an object is billed for, by class
#: (https://aws.amazon.com/s3/storage-classes/, "Performance across the classes").
MINIMUM: Mapping[str, timedelta] = {
    "STANDARD_IA": timedelta(days=30),
    "ONEZONE_IA": timedelta(days=30),
    "GLACIER_IR": timedelta(days=90),
    "GLACIER": timedelta(days=90),
    "DEEP_ARCHIVE": timedelta(days=180),
}
#: One LIST request (https://aws.amazon.com/s3/pricing/), and what it lists at most.
LIST_PRICE = Money.of("0.000005")
LISTED = 1_000


def prices_in(region: str) -> Mapping[str, Money]:
    """Return known prices per GB-month by class; empty where none is known."""
    return PRICES.get(region, {})


def monthly(price: Money, size_bytes: int) -> Money:
    """Return what some bytes cost a month.

    >>> str(monthly(Money.of("0.023"), 100 * GIB))
    '$2.30'
    """
    return price.scaled(Fraction(size_bytes, GIB))


def early_fee(
    storage_class: str,
    price: Money,
    size_bytes: int,
    *,
    written_at: datetime,
    now: datetime,
) -> Money:
    """Return what deleting costs before the class's minimum time is over."""
    left = written_at + MINIMUM.get(storage_class, timedelta()) - now
    if left <= timedelta():
        return Money.zero(price.currency)
    return price.scaled(Fraction(size_bytes, GIB) * Fraction(left / MONTH))


def listing_price(entries: int) -> Money:
    """Return what listing so many versions costs.

    >>> listing_price(1_000_000).text()
    '0.005'
    """
    return LIST_PRICE * max(1, -(-entries // LISTED))
