"""Answer what a run will cost, and whether a policy asks for approval of it.

A price nobody knows gives an error, never $0; an approval rule then fails closed.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from billing.core.estimate import (
    Estimate,
    EstimateRequest,
    Extras,
    NoPriceError,
    Note,
    alternative_keys,
    estimate,
    problems,
)
from billing.core.estimate_deadline import deadline_of
from billing.core.estimate_factors import Overheads, stage_overheads, with_spot_band
from billing.core.gpus import gpu_types_known, snapshot_regions
from billing.core.prices import PriceKey, Purchase
from billing.core.spot_advisor import spot_band
from bot.use_cases.estimate_inputs import (
    COUNT_MAX,
    HOURS_MAX,
    BadPlanError,
    PlanTexts,
    read_plan,
    with_options,
)
from bot.use_cases.pricing import PriceBook

__all__ = [
    "COUNT_MAX",
    "HOURS_MAX",
    "BadPlanError",
    "PlanTexts",
    "checked",
    "estimate_run",
    "plan_of",
    "read_plan",
    "with_options",
]

#: Bought ahead at prices that differ by contract: list price on demand is the ceiling.
_LISTED_ON_DEMAND = frozenset({Purchase.ODCR, Purchase.SAVINGS_PLAN, Purchase.RESERVED})


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
        BadPlanError: Naming the parts, what was expected and what was given.
    """
    return read_plan(
        PlanTexts(
            instance_type=instance_type, count=count, hours=hours, purchase=purchase,
            region=region, job=job, is_time_limit=is_time_limit,
        )
    )  # fmt: skip


def checked(plan: EstimateRequest) -> EstimateRequest:
    """Return a plan of a known instance type.

    Raises:
        BadPlanError: With the nearest type names.
    """
    found = problems(plan, gpu_types_known())
    if found:
        suggestions = [name for one in found for name in one.suggestions]
        raise BadPlanError("\n".join(one.message for one in found), suggestions)
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


def estimate_run(
    plan: EstimateRequest, prices: PriceBook, now: datetime | None = None
) -> Estimate:
    """Estimate a planned run out of known prices, with other ways to run it.

    Args:
        plan: What is planned.
        prices: What things cost.
        now: When it would start; None: its deadline is not looked at.

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
    overheads = _overheads(plan)
    own = prices.list_price(PriceKey(region=plan.region, product=plan.instance_type))
    return estimate(
        plan,
        price,
        yours=prices.yours(price),
        overheads=overheads,
        candidates=[replace(one, rate=prices.yours(one)) for one in known],
        extras=Extras(
            notes=_notes(plan, overheads, now),
            on_demand=prices.yours(own) if own else None,
        ),
    )


def _overheads(plan: EstimateRequest) -> Overheads:
    overheads = stage_overheads(plan.terms.stage)
    band = spot_band(plan.instance_type, plan.region)
    return with_spot_band(overheads, band, count=plan.count)


def _notes(
    plan: EstimateRequest, overheads: Overheads, now: datetime | None
) -> tuple[Note, ...]:
    notes = []
    deadline = deadline_of(plan, overheads, now) if now else None
    if deadline is not None:
        notes.append(Note(name="deadline", text=deadline.text))
    return tuple(notes)
