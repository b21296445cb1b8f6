"""Answer what a run will cost, and whether a policy asks for approval of it.

A price nobody knows gives an error, never $0; an approval rule then fails closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from billing.core.errors import GpucostError
from billing.core.estimate import (
    Estimate,
    EstimateRequest,
    NoPriceError,
    alternative_keys,
    estimate,
    problems,
)
from billing.core.gpus import gpu_types_known, snapshot_regions
from billing.core.prices import PriceKey, Purchase
from bot.use_cases.pricing import PriceBook

COUNT_MAX = 100_000
#: Bought ahead at prices that differ by contract: list price on demand is the ceiling.
_LISTED_ON_DEMAND = frozenset({Purchase.ODCR, Purchase.SAVINGS_PLAN, Purchase.RESERVED})
HOURS_MAX = 24 * 366 * 3
EXPONENT_MAX = 12


class BadPlanError(GpucostError, ValueError):
    """A planned run has a part that cannot be estimated."""

    code = "bad_plan"
    exit_code = 2

    def __init__(self, message: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.suggestions = tuple(suggestions)


def plan_of(
    *,
    instance_type: str,
    count: int,
    hours: str,
    purchase: str,
    region: str,
    job: str,
    is_time_limit: bool,
) -> EstimateRequest:
    """Read a planned run from texts.

    Raises:
        BadPlanError: Naming the part, what was expected and what was given.
    """
    if not 1 <= count <= COUNT_MAX:
        raise BadPlanError(f"count must be 1 to {COUNT_MAX:,} instances, got {count}")
    try:
        bought = Purchase(purchase)
    except ValueError as error:
        names = [one.value for one in Purchase]
        raise BadPlanError(
            f"purchase must be one of {', '.join(names)}, got {purchase!r}"
        ) from error
    return EstimateRequest(
        instance_type=instance_type.strip().lower(),
        count=count,
        hours=_hours(hours),
        region=region,
        purchase=bought,
        job=job,
        is_time_limit=is_time_limit,
    )


def _hours(text: str) -> Fraction:
    bare = text.strip().lower().removesuffix("h")
    try:
        number = Decimal(bare)
        # A huge or tiny exponent would build a number of millions of digits.
        is_plain = number.is_finite() and abs(number.adjusted()) <= EXPONENT_MAX
        hours = Fraction(number) if is_plain else Fraction(0)
    except (InvalidOperation, ValueError) as error:
        raise BadPlanError(
            f"hours must be a number such as 72, got {text!r}"
        ) from error
    if not 0 < hours <= HOURS_MAX:
        raise BadPlanError(
            f"hours must be more than 0 and at most {HOURS_MAX:,}, got {text!r}"
        )
    return hours


def checked(plan: EstimateRequest) -> EstimateRequest:
    """Return a plan of a known instance type.

    Raises:
        BadPlanError: With the nearest type names.
    """
    found = problems(plan, gpu_types_known())
    if found:
        suggestions = [name for one in found for name in one.suggestions]
        raise BadPlanError("; ".join(one.message for one in found), suggestions)
    return plan


def zones_of(region: str) -> tuple[str, ...]:
    """Return the usual zone names of a region; those without a price fall away."""
    return tuple(f"{region}{letter}" for letter in "abcdef")


def keys_of(plan: EstimateRequest) -> tuple[PriceKey, ...]:
    """Return the keys that price a plan as it is meant to be bought."""
    if plan.purchase is Purchase.SPOT:
        return tuple(
            PriceKey(
                region=plan.region, product=plan.instance_type,
                purchase=Purchase.SPOT, zone=zone,
            )
            for zone in zones_of(plan.region)
        )  # fmt: skip
    listed = plan.purchase in {Purchase.ON_DEMAND, *_LISTED_ON_DEMAND}
    purchase = Purchase.ON_DEMAND if listed else plan.purchase
    return (
        PriceKey(region=plan.region, product=plan.instance_type, purchase=purchase),
    )


def estimate_run(plan: EstimateRequest, prices: PriceBook) -> Estimate:
    """Estimate a planned run out of known prices, with other ways to run it.

    Raises:
        BadPlanError: The instance type is not known.
        NoPriceError: Nobody knows its price.
    """
    plan = checked(plan)
    found = prices.list_prices(keys_of(plan))
    if not found:
        raise NoPriceError(plan)
    # Of several zones the dearest counts: a job may land in any of them.
    price = max(found.values(), key=lambda one: one.rate.nanos)
    regions = {plan.region, *snapshot_regions(plan.instance_type)}
    others = alternative_keys(plan, sorted(regions), zones_of(plan.region))
    known = prices.list_prices(others).values()
    return estimate(
        plan,
        price,
        yours=prices.yours(price),
        candidates=[replace(one, rate=prices.yours(one)) for one in known],
    )
