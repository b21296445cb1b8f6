"""Cells of an export as charges: rounded once each, fees spread over their days. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

from billing.core.attribution import TagKeys, job_of
from billing.core.categories import Classified, classify
from billing.core.charges import Charge, CostCategory, PricingCategory
from billing.core.money import Money, split
from billing.core.periods import DAY, days_between
from billing.exports.views import KEYS

_PICOS_PER_NANO = 1_000
_HALF = _PICOS_PER_NANO // 2

#: Record types that views make of FOCUS columns -> the bill's own word for the same.
_FOCUS_KINDS: Mapping[str, str] = {
    "Committed usage": "DiscountedUsage",
    "Unused commitment": "RIFee",
    "Commitment purchase": "RIFee",
    "Purchase": "Fee",
    "Adjustment": "Adjustment",
}
_PRICING: Mapping[str, PricingCategory] = {
    "Dynamic": PricingCategory.DYNAMIC,
    "Committed": PricingCategory.COMMITTED,
}
#: FOCUS service categories, for what has no usage type.
_HINTS: Mapping[str, CostCategory] = {
    "Compute": CostCategory.COMPUTE,
    "Storage": CostCategory.STORAGE,
    "Networking": CostCategory.NETWORK,
    "AI and Machine Learning": CostCategory.MANAGED_SERVICE,
}


def nanos_of(amount: str) -> int:
    """Return nano-units of a text with 12 places, rounded half-even.

    >>> nanos_of("0.000000000500"), nanos_of("-0.000000001500"), nanos_of("12.340000000000")
    (0, -2, 12340000000)
    """
    whole, rest = divmod(int(amount.replace(".", "", 1)), _PICOS_PER_NANO)
    return whole + (rest > _HALF or (rest == _HALF and whole % 2 == 1))


class ChargeMaker:
    """Makes charges of one delivery's cells."""

    def __init__(self, tags: Sequence[str], keys: TagKeys, currency: str) -> None:
        self._tags = tags
        self._currency = currency
        width = len(tags)

        @lru_cache(maxsize=65_536)
        def job_named(values: tuple[str | None, ...]) -> str:
            named = {
                key: value for key, value in zip(tags, values, strict=True) if value
            }
            return job_of(named, keys)

        self._job_of = job_named
        self._width = len(KEYS) + width

    def charges(self, row: Sequence[Any]) -> Iterator[Charge]:
        """Yield the charges of one cell: one, or one a day for a spread fee."""
        account, _, day, last, region, service, usage_type, kind, pricing = row[:9]
        hint, unit = row[9 : len(KEYS)]
        billed, effective, listed, quantity, is_final = row[self._width :]
        job = self._job_of(tuple(row[len(KEYS) : self._width]))
        said = _said(kind, usage_type or "", service or "", job)
        charge = Charge(
            account=account, day=day,
            region=region or said.region,
            service=service or "",
            usage_type=usage_type or "",
            record_type=kind,
            category=said.category,
            pricing=_PRICING.get(pricing, said.pricing),
            cost_category=said.cost_category
            if usage_type
            else _HINTS.get(hint, said.cost_category),
            bucket=said.bucket, job=said.job,
            billed=Money(nanos_of(billed), self._currency),
            effective=Money(nanos_of(effective), self._currency),
            list_cost=None if listed is None else Money(nanos_of(listed), self._currency),
            quantity=None if quantity is None else Decimal(quantity), unit=unit or "",
            is_estimated=not is_final,
            raw_billed=billed,
        )  # fmt: skip
        if last > day:
            yield from spread(charge, last)
        else:
            yield charge


def spread(charge: Charge, last: date) -> Iterator[Charge]:
    """Yield a charge with its effective cost spread evenly up to its last day.

    What was invoiced, and the quantity, stay on the first day.
    """
    days = list(days_between(charge.day, last + DAY))
    parts = split(charge.effective, [1] * len(days))
    assert parts is not None
    yield replace(charge, effective=parts[0])
    nothing = Money.zero(charge.billed.currency)
    later = replace(
        charge,
        billed=nothing,
        list_cost=charge.list_cost and nothing,
        quantity=None,
        raw_billed="",
    )
    for day, part in zip(days[1:], parts[1:], strict=True):
        yield replace(later, day=day, effective=part)


@lru_cache(maxsize=65_536)
def _said(kind: str, usage_type: str, service: str, job: str) -> Classified:
    known = _FOCUS_KINDS.get(kind, kind)
    found = classify(known, usage_type, service=service, job=job)
    return found if usage_type else replace(found, region="")
