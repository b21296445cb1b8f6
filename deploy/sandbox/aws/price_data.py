"""The Price List's products: AWS's own rows, and rows built from price tables.

It must not know requests. Origin and licences are in `data/SOURCE.md`.
"""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
TERM = "JRTCKXETXF"
RATE = "6YS6EN2CT7"
VERSION = "20260910195514"
PUBLISHED = "2026-09-10T19:55:14Z"
EFFECTIVE = "2026-09-01T00:00:00Z"
LOCATIONS = {
    "us-east-1": ("US East (N. Virginia)", ""),
    "us-west-2": ("US West (Oregon)", "USW2-"),
    "eu-west-1": ("Europe (Ireland)", "EU-"),
}
VOLUME_TYPES = {
    "gp3": "General Purpose",
    "gp2": "General Purpose",
    "io1": "Provisioned IOPS",
    "io2": "Provisioned IOPS",
    "st1": "Throughput Optimized HDD",
    "sc1": "Cold HDD",
}
#: io1 and st1 are billed under older names.
VOLUME_USAGE = {"io1": "piops", "io2": "io2"}
STATES = (
    ("Used", "BoxUsage", True),
    ("UnusedCapacityReservation", "UnusedBox", True),
    ("AllocatedCapacityReservation", "Reservation", False),
)

Product = dict[str, Any]


@cache
def shipped_products() -> tuple[Product, ...]:
    """Return every product that the sandbox ships with."""
    real: list[Product] = json.loads((DATA / "products.json").read_text())
    return (*real, *_instances(), *_storage())


def product(
    attributes: dict[str, str],
    *,
    family: str,
    unit: str,
    price: str,
    currency: str = "USD",
    rate: str = RATE,
) -> Product:
    """Return one on-demand product in GetProducts' shape."""
    key = json.dumps([family, attributes], sort_keys=True).encode()
    digest = hashlib.sha256(key).digest()
    alphabet = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
    sku = "".join(alphabet[byte % len(alphabet)] for byte in digest[:16])
    rate_code = f"{sku}.{TERM}.{rate}"
    subject = attributes.get("instanceType") or attributes.get("volumeApiName", family)
    dimension = {
        "unit": unit,
        "endRange": "Inf",
        "description": f"${price} per {unit} of {subject}",
        "appliesTo": [],
        "rateCode": rate_code,
        "beginRange": "0",
        "pricePerUnit": {currency: f"{Decimal(price):.10f}"},
    }
    term = {
        "priceDimensions": {rate_code: dimension},
        "sku": sku,
        "effectiveDate": EFFECTIVE,
        "offerTermCode": TERM,
        "termAttributes": {},
    }
    return {
        "product": {"productFamily": family, "attributes": attributes, "sku": sku},
        "serviceCode": attributes["servicecode"],
        "terms": {"OnDemand": {f"{sku}.{TERM}": term}},
        "version": VERSION,
        "publicationDate": PUBLISHED,
    }


def instance_product(
    instance_type: str, price: str, *, region: str = "us-east-1", **changes: str
) -> Product:
    """Return the nominal Linux row of one type; `changes` replace attributes."""
    location, prefix = LOCATIONS[region]
    metal = instance_type.endswith(".metal")
    attributes = _common(region, location) | {
        "availabilityzone": "NA",
        "capacitystatus": "Used",
        "instanceFamily": "GPU instance",
        "instanceType": instance_type,
        "licenseModel": "No License required",
        "marketoption": "OnDemand",
        "operatingSystem": "Linux",
        "operation": "RunInstances",
        "preInstalledSw": "NA",
        "tenancy": "Shared",
        "usagetype": f"{prefix}BoxUsage:{instance_type}",
    }
    family = "Compute Instance (bare metal)" if metal else "Compute Instance"
    return product(attributes | changes, family=family, unit="Hrs", price=price)


def _common(region: str, location: str) -> dict[str, str]:
    return {
        "location": location,
        "locationType": "AWS Region",
        "regionCode": region,
        "servicecode": "AmazonEC2",
        "servicename": "Amazon Elastic Compute Cloud",
    }


def _instances() -> list[Product]:
    table = json.loads((DATA / "ondemand_us_east_1.json").read_text())
    rows: list[Product] = []
    for name, facts in table["types"].items():
        details = {"vcpu": facts["vcpu"], "memory": facts["memory"]}
        if facts["gpu"]:
            details["gpu"] = facts["gpu"]
        rows += [
            instance_product(
                name,
                facts["price"] if priced else "0",
                capacitystatus=state,
                usagetype=f"{usage}:{name}",
                **details,
            )
            for state, usage, priced in STATES
        ]
    return rows


def _storage() -> list[Product]:
    prices = json.loads((DATA / "storage.json").read_text())
    return [
        _storage_product(region, name, price)
        for region, table in prices.items()
        for name, price in table.items()
    ]


def _storage_product(region: str, name: str, price: str) -> Product:
    location, prefix = LOCATIONS[region]
    common = _common(region, location)
    if name == "snapshot":
        attributes = common | {
            "storageMedia": "Amazon S3",
            "usagetype": f"{prefix}EBS:SnapshotUsage",
            "operation": "",
        }
        return product(attributes, family="Storage Snapshot", unit="GB-Mo", price=price)
    if name == "s3-standard":
        attributes = common | {
            "servicecode": "AmazonS3",
            "servicename": "Amazon Simple Storage Service",
            "storageClass": "General Purpose",
            "volumeType": "Standard",
            "usagetype": f"{prefix}TimedStorage-ByteHrs",
            "operation": "",
        }
    else:
        usage = VOLUME_USAGE.get(name, name)
        attributes = common | {
            "volumeApiName": name,
            "volumeType": VOLUME_TYPES[name],
            "storageMedia": "HDD-backed" if name in {"st1", "sc1"} else "SSD-backed",
            "usagetype": f"{prefix}EBS:VolumeUsage.{usage}",
            "operation": "",
        }
    return product(attributes, family="Storage", unit="GB-Mo", price=price)
