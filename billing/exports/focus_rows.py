"""Charges and transfers of the ledger as rows of FOCUS 1.2. Pure.

Columns and their rules: https://focus.finops.org/focus-specification/v1-2/. What the
ledger knows beside it stands in columns of our own, which begin with ``x_``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from billing.core.charges import BUCKET_PREFIX
from billing.core.money import NANOS_PER_UNIT
from billing.core.periods import DAY, month_start, next_month
from billing.core.transfers import Transfer
from billing.ports.charge_rows import CHARGE_CELLS, ChargeCells

#: Column -> type in Parquet; the order is that of the file.
COLUMNS: Mapping[str, str] = {
    "BilledCost": "DECIMAL(28,9)",
    "BillingAccountId": "VARCHAR",
    "BillingAccountName": "VARCHAR",
    "BillingAccountType": "VARCHAR",
    "BillingCurrency": "VARCHAR",
    "BillingPeriodEnd": "TIMESTAMP",
    "BillingPeriodStart": "TIMESTAMP",
    "ChargeCategory": "VARCHAR",
    "ChargeClass": "VARCHAR",
    "ChargeDescription": "VARCHAR",
    "ChargeFrequency": "VARCHAR",
    "ChargePeriodEnd": "TIMESTAMP",
    "ChargePeriodStart": "TIMESTAMP",
    "ConsumedQuantity": "DECIMAL(38,12)",
    "ConsumedUnit": "VARCHAR",
    "ContractedCost": "DECIMAL(28,9)",
    "EffectiveCost": "DECIMAL(28,9)",
    "InvoiceId": "VARCHAR",
    "InvoiceIssuerName": "VARCHAR",
    "ListCost": "DECIMAL(28,9)",
    "PricingCategory": "VARCHAR",
    "PricingQuantity": "DECIMAL(38,12)",
    "PricingUnit": "VARCHAR",
    "ProviderName": "VARCHAR",
    "PublisherName": "VARCHAR",
    "RegionId": "VARCHAR",
    "RegionName": "VARCHAR",
    "ResourceId": "VARCHAR",
    "ResourceName": "VARCHAR",
    "ResourceType": "VARCHAR",
    "ServiceCategory": "VARCHAR",
    "ServiceName": "VARCHAR",
    "ServiceSubcategory": "VARCHAR",
    "SkuId": "VARCHAR",
    "SkuMeter": "VARCHAR",
    "SkuPriceDetails": "VARCHAR",
    "SkuPriceId": "VARCHAR",
    "SubAccountId": "VARCHAR",
    "SubAccountName": "VARCHAR",
    "SubAccountType": "VARCHAR",
    "Tags": "VARCHAR",
    "x_Kind": "VARCHAR",
    "x_Job": "VARCHAR",
    "x_Bucket": "VARCHAR",
    "x_CostCategory": "VARCHAR",
    "x_UsageType": "VARCHAR",
    "x_RecordType": "VARCHAR",
    "x_ListCost": "DECIMAL(28,9)",
    "x_IsEstimated": "BOOLEAN",
    "x_Rule": "VARCHAR",
    "x_Basis": "VARCHAR",
    "x_Evidence": "VARCHAR",
    "x_CounterKey": "VARCHAR",
}
FocusRow = dict[str, Any]

AWS = "Amazon Web Services"
_UNNAMED_SERVICE = "Unspecified"
_CATEGORIES = {
    "usage": "Usage",
    "tax": "Tax",
    "credit": "Credit",
    "refund": "Credit",
    "adjustment": "Adjustment",
}
_PRICING = {
    "standard": "Standard",
    "dynamic": "Dynamic",
    "committed": "Committed",
    "other": "Other",
}
_NO_PRICING = frozenset({"Tax", "Credit", "Adjustment"})
#: Words in a service's name -> its category: a service has one, whatever it bills for.
_SERVICES = (
    ("AI and Machine Learning", ("sagemaker", "bedrock")),
    (
        "Compute",
        ("elastic compute", "ec2", "lambda", "batch", "kubernetes", "container"),
    ),
    ("Storage", ("storage", "fsx", "file system", "block store", "backup")),
    (
        "Networking",
        ("virtual private", "route 53", "load balanc", "cloudfront", "transfer"),
    ),
)
#: Start of a resource's id -> its type.
_RESOURCES = (
    ("i-", "Instance"),
    ("vol-", "Volume"),
    ("snap-", "Snapshot"),
    ("fs-", "File system"),
)


@dataclass(frozen=True, slots=True)
class FocusMaker:
    """Makes rows in one currency."""

    currency: str

    def of_charge(self, cells: ChargeCells) -> FocusRow:
        """Return one charge of the bill, as the bill gives it to a job or bucket."""
        one = dict(zip(CHARGE_CELLS, cells, strict=True))
        category = _category(one["category"], one["effective"])
        quantity = (
            one["quantity"] if one["category"] == "usage" and one["unit"] else None
        )
        row = self._row(
            one["account"], one["day"], one["service"], one["cost_category"]
        )
        row |= _resource(one["resource_id"])
        row |= _amounts(one["billed"], one["effective"], one["list_cost"])
        row |= {
            "ChargeCategory": category,
            "ChargeDescription": one["usage_type"] or one["record_type"],
            "ChargeFrequency": _frequency(one["category"]),
            "ConsumedQuantity": quantity,
            "ConsumedUnit": one["unit"] if quantity is not None else None,
            "PricingCategory": _pricing(category, one["pricing"]),
            "PricingQuantity": quantity,
            "PricingUnit": one["unit"] if quantity is not None else None,
            "RegionId": one["region"] or None,
            "RegionName": one["region"] or None,
            "x_Kind": "charge",
            "x_Job": one["job"] or None,
            "x_Bucket": one["bucket"],
            "x_UsageType": one["usage_type"] or None,
            "x_RecordType": one["record_type"],
            "x_IsEstimated": bool(one["is_estimated"]),
        }
        return row

    def of_transfer(self, one: Transfer) -> tuple[FocusRow, FocusRow]:
        """Return a transfer as what one key loses and another gains."""
        listed = None if one.list_cost is None else one.list_cost.nanos
        sides = ((one.from_key, one.to_key, -1), (one.to_key, one.from_key, 1))
        lost, gained = (
            self._row(one.account, one.day, one.service, one.cost_category)
            | _amounts(
                sign * one.billed.nanos,
                sign * one.effective.nanos,
                None if listed is None else sign * listed,
            )
            | _key(key)
            | _resource(one.resource_id)
            | {
                "ChargeCategory": "Adjustment",
                "ChargeDescription": f"attributed by {one.rule.value}",
                "ChargeFrequency": "One-Time",
                "RegionId": one.region or None,
                "RegionName": one.region or None,
                "x_Kind": "transfer",
                "x_UsageType": one.usage_type or None,
                "x_Rule": one.rule.value,
                "x_Basis": one.basis.value,
                "x_Evidence": one.evidence,
                "x_CounterKey": other,
            }
            for key, other, sign in sides
        )
        return lost, gained

    def _row(self, account: str, day: date, service: str, bought: str) -> FocusRow:
        """Return what every row has; what it says nothing of is NULL."""
        period = month_start(day)
        category = service_category(service)
        return dict.fromkeys(COLUMNS) | {
            "BillingAccountId": account,
            "BillingCurrency": self.currency,
            "BillingPeriodStart": _instant(period),
            "BillingPeriodEnd": _instant(next_month(period)),
            "ChargePeriodStart": _instant(day),
            "ChargePeriodEnd": _instant(day + DAY),
            "InvoiceIssuerName": AWS,
            "ProviderName": AWS,
            "PublisherName": AWS,
            "ServiceCategory": category,
            "ServiceName": service or _UNNAMED_SERVICE,
            "ServiceSubcategory": f"Other ({category})",
            "SubAccountId": account,
            "SubAccountName": account,
            "x_CostCategory": bought,
        }


def amount(nanos: int) -> str:
    """Return nano-units as a plain number.

    >>> amount(-1_500_000_000), amount(0), amount(1)
    ('-1.500000000', '0.000000000', '0.000000001')
    """
    sign = "-" if nanos < 0 else ""
    whole, rest = divmod(abs(nanos), NANOS_PER_UNIT)
    return f"{sign}{whole}.{rest:09d}"


def _amounts(billed: int, effective: int, listed: int | None) -> FocusRow:
    """Return the four costs; FOCUS wants a list cost, ours may be unknown beside it."""
    return {
        "BilledCost": amount(billed),
        "EffectiveCost": amount(effective),
        "ContractedCost": amount(billed),
        "ListCost": amount(billed if listed is None else listed),
        "x_ListCost": None if listed is None else amount(listed),
    }


def _key(key: str) -> FocusRow:
    is_bucket = key.startswith(BUCKET_PREFIX)
    return {
        "x_Job": None if is_bucket else key,
        "x_Bucket": key.removeprefix(BUCKET_PREFIX) if is_bucket else "job",
    }


def _category(category: str, effective: int) -> str:
    """Return FOCUS's category: what is bought ahead costs nothing itself, by its rules."""
    if category in {"purchase", "fee"}:
        return "Usage" if effective else "Purchase"
    return _CATEGORIES[category]


def _frequency(category: str) -> str:
    if category == "usage":
        return "Usage-Based"
    return "Recurring" if category == "fee" else "One-Time"


def service_category(service: str) -> str:
    """Return the category of a service by its name.

    >>> service_category("Amazon SageMaker"), service_category("")
    ('AI and Machine Learning', 'Other')
    """
    folded = service.lower()
    for category, words in _SERVICES:
        if any(word in folded for word in words):
            return category
    return "Other"


def _resource(name: str) -> FocusRow:
    if not name:
        return {}
    kinds = (kind for start, kind in _RESOURCES if name.startswith(start))
    return {
        "ResourceId": name,
        "ResourceName": name,
        "ResourceType": next(kinds, "Resource"),
    }


def _pricing(category: str, pricing: str) -> str | None:
    return None if category in _NO_PRICING else _PRICING[pricing]


def _instant(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"
