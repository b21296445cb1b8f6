"""Choosing the one right product among those that AWS's Price List returns.

One instance type has many products (unused and allocated reservations, capacity
blocks, software, tenancies, bare metal in a family of its own): exactly one may be
left, else nothing is taken. A price of zero is no price, another currency stays what
it is, and a price far off the last good one is refused. Pure; the products come in as
parsed JSON (https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/price-changes.html).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from billing.core.errors import GpucostError
from billing.core.gpus import HOURS_PER_MONTH
from billing.core.money import Rate, nanos_from_text
from billing.core.periods import utc
from billing.core.price_services import EC2, Offer, offer_of
from billing.core.priced import is_published
from billing.core.prices import Price, PriceKey, Purchase

SOURCE = "price list"
PLAUSIBLE_FACTOR = 5

Product = Mapping[str, Any]

_INSTANCE_FAMILIES = frozenset({"Compute Instance", "Compute Instance (bare metal)"})
#: EC2's platform -> operatingSystem and preInstalledSw of the price list.
_PLATFORMS = {
    "Linux/UNIX": ("Linux", "NA"),
    "Red Hat Enterprise Linux": ("RHEL", "NA"),
    "SUSE Linux": ("SUSE", "NA"),
    "Ubuntu Pro": ("Ubuntu Pro", "NA"),
    "Ubuntu Pro Linux": ("Ubuntu Pro", "NA"),
    "Windows": ("Windows", "NA"),
    "Windows with SQL Server Enterprise": ("Windows", "SQL Ent"),
    "Windows with SQL Server Standard": ("Windows", "SQL Std"),
    "Windows with SQL Server Web": ("Windows", "SQL Web"),
    "Linux with SQL Server Enterprise": ("Linux", "SQL Ent"),
    "Linux with SQL Server Standard": ("Linux", "SQL Std"),
    "Linux with SQL Server Web": ("Linux", "SQL Web"),
}
_TENANCIES = {"default": "Shared", "dedicated": "Dedicated"}
_HOURLY = frozenset({"hrs", "hours"})
#: Suffix of a volume product -> its family, its units and how many of ours one holds.
_VOLUMES = {
    "": ("Storage", {"gb-mo": 1, "gb-month": 1}),
    "iops": ("System Operation", {"iops-mo": 1}),
    "throughput": ("Provisioned Throughput", {"gibps-mo": 1024, "mibps-mo": 1}),
}


class AmbiguousPriceError(GpucostError):
    """More than one product or price fits a key; taking any would be a guess."""

    code = "ambiguous_price"

    def __init__(self, key: PriceKey, what: str, found: Iterable[str]) -> None:
        names = ", ".join(sorted(found))
        super().__init__(
            f"expected one {what} for {key.product!r} in {key.region!r}, got {names}"
        )
        self.key = key


def filters(key: PriceKey) -> dict[str, str] | None:
    """Return the attributes that GetProducts can filter by; None when nothing can fit.

    The family of the product is left out: bare metal has another one.
    """
    if key.purchase is not Purchase.ON_DEMAND or not is_published(key):
        return None
    if offer := offer_of(key.product, key.region):
        return dict(offer.asked)
    if key.product.startswith("ebs:"):
        _, volume_type, *part = key.product.split(":")
        family, _ = _VOLUMES["".join(part)]
        return {
            "regionCode": key.region,
            "volumeApiName": volume_type,
            "productFamily": family,
        }
    if key.platform not in _PLATFORMS or key.tenancy not in _TENANCIES:
        return None
    system, software = _PLATFORMS[key.platform]
    return {
        "regionCode": key.region,
        "instanceType": key.product,
        "operatingSystem": system,
        "preInstalledSw": software,
        "tenancy": _TENANCIES[key.tenancy],
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
    }


def service_code(key: PriceKey) -> str:
    """Return the service of the price list that sells a key."""
    offer = offer_of(key.product, key.region)
    return EC2 if offer is None else offer.service


def choose_price(products: Iterable[Product], key: PriceKey) -> Price | None:
    """Return the one price of a key among products; None when none fits or it is 0.

    Raises:
        AmbiguousPriceError: Several products, terms, dimensions or currencies fit.
    """
    wanted = filters(key)
    if wanted is None:
        return None
    fits = _fits_of(key)
    found = {
        str(entry["product"]["sku"]): entry
        for entry in products
        if _matches(entry, wanted) and fits(entry)
    }
    if not found:
        return None
    entry = _only(found, key, "product")
    term = _only(entry["terms"].get("OnDemand", {}), key, "on-demand term")
    rate = _rate(term["priceDimensions"], key)
    if rate is None or rate.nanos <= 0:
        return None
    return Price(key=key, rate=rate, source=SOURCE, as_of=_published(entry, term))


def plausible(
    new: Price, last_good: Price | None, factor: int = PLAUSIBLE_FACTOR
) -> str | None:
    """Return why a price is not believed; None when it is.

    The first price of a key has nothing to be compared with.
    """
    if new.rate.nanos <= 0:
        return "a price of 0 is no price"
    if last_good is None:
        return None
    if new.rate.currency != last_good.rate.currency:
        return f"it is in {new.rate.currency}, not in {last_good.rate.currency}"
    before, after = last_good.rate.nanos, new.rate.nanos
    if before <= after * factor and after <= before * factor:
        return None
    times = f"more than {factor} times"
    side = "above" if after > before else "below"
    return f"{new.rate} is {times} {side} the last good price {last_good.rate}"


def _matches(entry: Product, wanted: Mapping[str, str]) -> bool:
    attributes = entry["product"].get("attributes", {})
    held = {"productFamily": entry["product"].get("productFamily"), **attributes}
    # Products older than capacity blocks name no market option: on demand is meant.
    held.setdefault("marketoption", "OnDemand")
    return all(held.get(name) == value for name, value in wanted.items())


def _fits_of(key: PriceKey) -> Callable[[Product], bool]:
    if offer := offer_of(key.product, key.region):
        return offer.fits
    return _volume_fits if key.product.startswith("ebs:") else _instance_fits


def _instance_fits(entry: Product) -> bool:
    attributes = entry["product"].get("attributes", {})
    is_own_licence = attributes.get("licenseModel") in {
        None,
        "NA",
        "No License required",
    }
    is_region = attributes.get("locationType") in {None, "AWS Region"}
    is_instance = entry["product"].get("productFamily") in _INSTANCE_FAMILIES
    return is_instance and is_own_licence and is_region


def _volume_fits(entry: Product) -> bool:
    # Provisioned IOPS beyond the first tier are products of their own.
    return ".tier" not in str(entry["product"]["attributes"].get("usagetype", ""))


def _only(found: Mapping[str, Any], key: PriceKey, what: str) -> Product:
    if len(found) != 1:
        raise AmbiguousPriceError(key, what, found or ["none"])
    (only,) = found.values()
    return dict(only)


def _rate(dimensions: Mapping[str, Product], key: PriceKey) -> Rate | None:
    """Return the price per hour of the only dimension in a fitting unit."""
    to_hourly = _hourly_of(key)
    fitting = {
        code: (dimension, held)
        for code, dimension in dimensions.items()
        if (held := to_hourly(str(dimension.get("unit", "")).lower())) is not None
    }
    if not fitting:
        return None
    if len(fitting) > 1:
        raise AmbiguousPriceError(key, "price dimension", fitting)
    ((dimension, held),) = fitting.values()
    prices = dimension["pricePerUnit"]
    if len(prices) != 1:
        raise AmbiguousPriceError(key, "currency", prices)
    ((currency, text),) = prices.items()
    return Rate(round(nanos_from_text(text) / held), currency)


def _hourly_of(key: PriceKey) -> Callable[[str], Fraction | None]:
    """Return a function: unit -> how many unit-hours of ours it is; None: another."""
    offer = offer_of(key.product, key.region)
    if not _is_monthly(key, offer):
        return lambda unit: Fraction(1) if unit in _HOURLY else None
    part = [] if offer else key.product.split(":")[2:]
    _, units = _VOLUMES["".join(part)]

    def monthly(unit: str) -> Fraction | None:
        held = units.get(unit)
        return None if held is None else Fraction(held * HOURS_PER_MONTH)

    return monthly


def _is_monthly(key: PriceKey, offer: Offer | None) -> bool:
    return key.product.startswith("ebs:") if offer is None else offer.is_monthly


def _published(entry: Product, term: Product) -> datetime:
    text = entry.get("publicationDate") or term["effectiveDate"]
    return utc(datetime.fromisoformat(str(text)))
