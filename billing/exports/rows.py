"""Cells of an export as rows of charges: rounded once each, fees spread over days. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from typing import Any

from billing.core.attribution import TagKeys, job_of
from billing.core.categories import Classified, classify
from billing.core.charges import Charge, CostCategory, PricingCategory
from billing.core.money import Money, split
from billing.core.periods import DAY as DAY_LENGTH
from billing.core.periods import days_between
from billing.exports.rollup import KEYS
from billing.ports.charge_rows import CHARGE_CELLS, DAY, ChargeCells, charge_of

_PICOS_PER_NANO = 1_000
_HALF = _PICOS_PER_NANO // 2
_EFFECTIVE = CHARGE_CELLS.index("effective")

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
    if amount.endswith("000"):  # Nearly all: nothing to round.
        return int(amount[:-3].replace(".", "", 1))
    whole, rest = divmod(int(amount.replace(".", "", 1)), _PICOS_PER_NANO)
    return whole + (rest > _HALF or (rest == _HALF and whole % 2 == 1))


class ChargeMaker:
    """Makes charges, as rows, of one delivery's cells."""

    def __init__(self, tags: Sequence[str], keys: TagKeys, currency: str) -> None:
        self.currency = currency
        self._tags = tags
        self._keys = keys
        self._width = len(KEYS) + len(tags)
        self._words = lru_cache(maxsize=65_536)(self._words_of)

    def rows(self, cell: Sequence[Any]) -> Sequence[ChargeCells]:
        """Return the charges of one cell: one, or one a day for a spread fee."""
        width = self._width
        account, _, day, last = cell[:4]
        *words, unit, resource = cell[4 : len(KEYS)]
        billed, effective, listed, quantity, is_final = cell[width:]
        found = (
            account, day,
            *self._words(*words, cell[len(KEYS) : width]),
            nanos_of(billed), nanos_of(effective),
            None if listed is None else nanos_of(listed),
            quantity, unit or "", not is_final, billed, resource_id(resource or ""),
        )  # fmt: skip
        return [found] if last <= day else [*spread(found, last)]

    def charges(self, cell: Sequence[Any]) -> list[Charge]:
        """Return the same as charges."""
        return [charge_of(one, self.currency) for one in self.rows(cell)]

    def _words_of(
        self,
        region: str | None,
        service: str | None,
        usage_type: str | None,
        kind: str,
        pricing: str | None,
        hint: str | None,
        tags: tuple[str | None, ...],
    ) -> tuple[str, ...]:
        """Return the words from region to job that words of an export mean."""
        named = {
            key: value for key, value in zip(self._tags, tags, strict=True) if value
        }
        job = job_of(named, self._keys)
        said = _said(kind, usage_type or "", service or "", job)
        bought = said.cost_category
        if not usage_type:
            bought = _HINTS.get(hint or "", bought)
        return (
            region or said.region, service or "", usage_type or "", kind,
            said.category.value, _PRICING.get(pricing or "", said.pricing).value,
            bought.value, said.bucket.value, said.job,
        )  # fmt: skip


def spread(cells: ChargeCells, last: date) -> Iterator[ChargeCells]:
    """Yield a charge with its effective cost spread evenly up to its last day.

    What was invoiced, and the quantity, stay on the first day.
    """
    days = list(days_between(cells[DAY], last + DAY_LENGTH))
    parts = split(Money(cells[_EFFECTIVE]), [1] * len(days))
    assert parts is not None
    named = dict(zip(CHARGE_CELLS, cells, strict=True))
    yield tuple((named | {"effective": parts[0].nanos}).values())
    named |= {
        "billed": 0,
        "list_cost": None if named["list_cost"] is None else 0,
        "quantity": None,
        "raw_billed": "",
    }
    for day, part in zip(days[1:], parts[1:], strict=True):
        yield tuple((named | {"day": day, "effective": part.nanos}).values())


@lru_cache(maxsize=65_536)
def _said(kind: str, usage_type: str, service: str, job: str) -> Classified:
    known = _FOCUS_KINDS.get(kind, kind)
    found = classify(known, usage_type, service=service, job=job)
    return found if usage_type else replace(found, region="")


@lru_cache(maxsize=65_536)
def resource_id(name: str) -> str:
    """Return the id of an instance, volume or the like; other ARNs stay whole.

    >>> resource_id("arn:aws:ec2:us-east-1:123456789012:instance/i-0abc")
    'i-0abc'
    """
    last = name.rpartition("/")[2]
    is_id = last.startswith(("i-", "vol-", "fs-", "snap-"))
    return last if is_id and name.startswith("arn:") else name
