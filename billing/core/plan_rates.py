"""Rates of Savings Plans on offer: their terms, and choosing one rate for each.

AWS answers one rate for each kind of plan, term and way to pay; the rate is what an
instance hour takes of the commitment, an upfront payment included
(https://docs.aws.amazon.com/savingsplans/latest/userguide/what-is-savings-plans.html).
Several different rates for the same terms are none. Pure; rates come in as parsed
answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from billing.core.money import Rate
from billing.core.priced import is_instance
from billing.core.prices import Price, PriceKey, Purchase

SOURCE = "Savings Plans offering rates"
YEAR_S = 365 * 24 * 3600
TERMS_YEARS = (1, 3)
#: EC2's tenancy -> the plan's; a host of one's own has no rate for an instance.
TENANCIES = {"default": "shared", "dedicated": "dedicated"}
_HOURLY = "Hrs"
_USAGE = {"shared": "BoxUsage:", "dedicated": "DedicatedUsage:"}


class PlanKind(StrEnum):
    """What a plan covers; values of AWS."""

    COMPUTE = "Compute"
    EC2_INSTANCE = "EC2Instance"


class Upfront(StrEnum):
    """How much of a plan is paid when it is bought; values of AWS."""

    NO = "No Upfront"
    PARTIAL = "Partial Upfront"
    ALL = "All Upfront"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTerms:
    """The terms of one plan on offer."""

    kind: PlanKind
    years: int
    upfront: Upfront

    @property
    def code(self) -> str:
        """Return the terms as a price key's ``zone`` names them."""
        return f"{self.kind}:{self.years}:{self.upfront}"

    @property
    def name(self) -> str:
        """Return kind and term, for people."""
        kind = "compute" if self.kind is PlanKind.COMPUTE else "EC2 instance"
        return f"{kind} savings plan, {self.years} year{'s' if self.years > 1 else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRates:
    """The rates of one key.

    Attributes:
        ambiguous: Terms for which different rates were answered, with these.
    """

    prices: tuple[Price, ...]
    ambiguous: tuple[str, ...] = ()


#: Every plan on offer.
OFFERED = tuple(
    PlanTerms(kind=kind, years=years, upfront=upfront)
    for kind in PlanKind
    for years in TERMS_YEARS
    for upfront in Upfront
)
_BY_CODE = {one.code: one for one in OFFERED}


def terms_of(key: PriceKey) -> PlanTerms | None:
    """Return the terms that a plan's price key names; None when it names none."""
    return _BY_CODE.get(key.zone) if key.purchase is Purchase.SAVINGS_PLAN else None


def plan_keys(region: str, product: str) -> tuple[PriceKey, ...]:
    """Return the keys of every plan on offer for a type."""
    return tuple(
        PriceKey(
            region=region, product=product, purchase=Purchase.SAVINGS_PLAN, zone=code
        )
        for code in _BY_CODE
    )


def has_plans(key: PriceKey) -> bool:
    """Tell whether Savings Plans of EC2 can cover what a key prices."""
    return is_instance(key) and key.tenancy in TENANCIES


def choose_rates(
    answered: Iterable[Mapping[str, Any]], key: PriceKey, now: datetime
) -> PlanRates:
    """Return the rate of each of a key's terms; rates of 0 and other ones fall away."""
    found: dict[PlanTerms, set[Rate]] = {}
    for terms, rate in _fitting(answered, key):
        found.setdefault(terms, set()).add(rate)
    clear = {terms: rates for terms, rates in found.items() if len(rates) == 1}
    prices = tuple(
        Price(key=replace(key, zone=terms.code), rate=rate, source=SOURCE, as_of=now)
        for terms, (rate,) in sorted(clear.items(), key=lambda one: one[0].code)
        if key.zone in {"", terms.code}
    )
    ambiguous = tuple(
        f"{terms.name}, {terms.upfront}: {', '.join(sorted(map(str, rates)))}"
        for terms, rates in sorted(found.items(), key=lambda one: one[0].code)
        if len(rates) > 1
    )
    return PlanRates(prices=prices, ambiguous=ambiguous)


def _fitting(
    answered: Iterable[Mapping[str, Any]], key: PriceKey
) -> Iterator[tuple[PlanTerms, Rate]]:
    for one in answered:
        plan = one["savingsPlanOffering"]
        code = _code(plan)
        if code not in _BY_CODE or not _is_for(one, key):
            continue
        rate = Rate.of(str(one["rate"]), str(plan.get("currency", "USD")))
        if rate.nanos > 0:
            yield _BY_CODE[code], rate


def _code(plan: Mapping[str, Any]) -> str:
    years, rest = divmod(int(plan["durationSeconds"]), YEAR_S)
    return "" if rest else f"{plan['planType']}:{years}:{plan['paymentOption']}"


def _is_for(one: Mapping[str, Any], key: PriceKey) -> bool:
    """Tell whether a rate is for a key: unused reservations have rates of their own."""
    held = {str(each["name"]): str(each["value"]) for each in one.get("properties", ())}
    tenancy = TENANCIES.get(key.tenancy, "")
    wanted = {
        "region": key.region,
        "instanceType": key.product,
        "productDescription": key.platform,
        "tenancy": tenancy,
    }
    usage = str(one.get("usageType", "")).rpartition("-")[2]
    is_used = usage.startswith(_USAGE.get(tenancy, "none"))
    is_hourly = one.get("unit") == _HOURLY and one.get("serviceCode") == "AmazonEC2"
    return is_used and is_hourly and wanted.items() <= held.items()
