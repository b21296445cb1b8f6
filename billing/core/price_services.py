"""Which products of AWS's Price List price SageMaker, FSx for Lustre and NAT gateways.

Each says what to ask, and which of the answers is the one: the usage type tells what a
machine type is sold for, the throughput which tier of a file system. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from billing.core.priced import NAT_GATEWAY

Product = Mapping[str, Any]

EC2, SAGEMAKER, FSX = "AmazonEC2", "AmazonSageMaker", "AmazonFSx"
#: What a type is sold for -> the word of its usage type (``USE1-Train:ml.…``).
_WORDS = {
    "training": frozenset({"Train"}),
    "hosting": frozenset({"Host", "Hst"}),
    "notebook": frozenset({"Notebk"}),
    "studio": frozenset({"Studio"}),
    "cluster": frozenset({"Cluster"}),
}
_NAT_HOURS = re.compile(r"(?:^|-)NatGateway-Hours$")
_NUMBER = re.compile(r"\d+")
_SCRATCH = "scratch"
#: Parts of a file system that are sold apart from its storage.
_NOT_STORAGE = ("backup", "metadata", "cache", "iops", "monitoring")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """How to find the product of a key.

    Attributes:
        service: Service code of the Price List.
        asked: Attributes to filter by.
        fits: Tells whether a product that passed the filters is meant.
        is_monthly: Priced by GiB and month, not by the hour.
    """

    service: str
    asked: Mapping[str, str]
    fits: Callable[[Product], bool]
    is_monthly: bool = False


def offer_of(product: str, region: str) -> Offer | None:
    """Return how to find the product of a key; None when it is not of these services."""
    if product == NAT_GATEWAY:
        return Offer(
            service=EC2,
            asked={
                "regionCode": region,
                "productFamily": "NAT Gateway",
                "operation": "NatGateway",
            },
            fits=lambda entry: _NAT_HOURS.search(_usage_type(entry)) is not None,
        )
    kind, _, rest = product.partition(":")
    if kind == "sagemaker":
        component, _, instance_type = rest.partition(":")
        words = _WORDS[component]
        return Offer(
            service=SAGEMAKER,
            asked={"regionCode": region, "instanceName": instance_type},
            fits=lambda entry: _is_sold_for(entry, words, instance_type),
        )
    if kind == "fsx":
        return _file_system(rest, region)
    return None


def _file_system(shape: str, region: str) -> Offer:
    """Return the offer of ``lustre:persistent_2:ssd:125``; scratch has no tier."""
    parts = shape.split(":")
    deployment, storage = parts[1], parts[2].upper()
    tier = int(parts[3]) if len(parts) > 3 else None  # noqa: PLR2004 - its fourth part
    is_scratch = deployment.startswith(_SCRATCH)
    return Offer(
        service=FSX,
        asked={
            "regionCode": region,
            "fileSystemType": "Lustre",
            "storageType": storage,
        },
        fits=lambda entry: _is_storage(entry, tier, is_scratch=is_scratch),
        is_monthly=True,
    )


def _is_sold_for(entry: Product, words: frozenset[str], instance_type: str) -> bool:
    what, _, of = _usage_type(entry).partition(":")
    # Studio names what runs: ``Studio:KernelGateway-ml.g5.xlarge``.
    is_type = of == instance_type or of.endswith(f"-{instance_type}")
    return is_type and what.rpartition("-")[2] in words


def _is_storage(entry: Product, tier: int | None, *, is_scratch: bool) -> bool:
    attributes = entry["product"].get("attributes", {})
    words = " ".join(str(value) for value in attributes.values()).lower()
    usage_type = _usage_type(entry).lower()
    if (_SCRATCH in words) is not is_scratch:
        return False
    if any(part in usage_type for part in _NOT_STORAGE):
        return False
    if is_scratch:
        return True
    found = _NUMBER.search(str(attributes.get("throughputCapacity", "")))
    return found is not None and tier is not None and int(found[0]) == tier


def _usage_type(entry: Product) -> str:
    return str(entry["product"].get("attributes", {}).get("usagetype", ""))
