"""Answer what a run will cost, and whether a policy asks for approval of it.

A price nobody knows gives an error, never $0; an approval rule then fails closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from billing.core.estimate import (
    Estimate,
    EstimateRequest,
    Extras,
    NoPriceError,
    alternative_keys,
    estimate,
    problems,
)
from billing.core.estimate_factors import Overheads, stage_overheads, with_spot_band
from billing.core.estimate_history import (
    PastEstimate,
    calibrated,
    percent,
    round_ratio,
    score,
)
from billing.core.estimate_scaling import Measured, Scaling, scaling_of
from billing.core.gpus import family_of, gpu_types_known, snapshot_regions
from billing.core.money import Rate
from billing.core.periods import day_of
from billing.core.plan_rates import plan_keys, terms_of
from billing.core.prices import Price, PriceKey, Purchase
from billing.core.spot_advisor import spot_band, spot_regions
from billing.ports.estimates import EstimateLedger
from bot.use_cases.estimate_extras import (
    MoreWays,
    block_overheads,
    checkpoint_lines,
    notes_of,
    regions_of,
    retraining,
)
from bot.use_cases.estimate_history import past_of
from bot.use_cases.estimate_inputs import (
    COUNT_MAX,
    HOURS_MAX,
    read_plan,
    with_options,
)
from bot.use_cases.estimate_options import BadPlanError, PlanTexts
from bot.use_cases.pricing import PriceBook
from policies.core.approvals import job_family

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

#: How far back the organisation's own price is looked for in its bill.
PAID_WINDOW = timedelta(days=7)
#: Runs of the same kind of job that scaling is measured on, the newest.
RUNS_COMPARED = 50
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
    plans = _plans(plan, prices)
    price = _price(plan, plans, prices, now)
    past = past_of(prices.ledger)
    overheads = _overheads(plan, past)
    known = [
        replace(one, rate=prices.yours(one))
        for one in prices.list_prices(_other_keys(plan)).values()
    ]
    yours, basis = _yours(plan, price, prices)
    listed = prices.list_price(PriceKey(region=plan.region, product=plan.instance_type))
    saved = plan.terms.checkpoints
    found = estimate(
        plan,
        price,
        yours=yours,
        overheads=overheads,
        candidates=known,
        extras=Extras(
            lines=checkpoint_lines(plan, price.rate.currency),
            notes=tuple(notes_of(plan, overheads, now, score(past), price)),
            on_demand=_on_demand(plan, yours, listed, prices),
            checkpoint_hours=saved.every if saved else None,
            price_basis=basis,
            plans=plans,
            more_ways=MoreWays(
                managed=_managed(plan, prices),
                scaling=_scaling(plan, prices),
                spot_known=regions_of(known),
            ),
        ),
    )
    yearly = retraining(plan, (found.low, found.expected, found.high))
    return replace(found, notes=(*found.notes, *yearly))


def _plans(plan: EstimateRequest, prices: PriceBook) -> tuple[Price, ...]:
    """Return the known rates of Savings Plans for the planned type."""
    keys = plan_keys(plan.region, plan.instance_type)
    return tuple(prices.list_prices(keys).values())


def _price(
    plan: EstimateRequest,
    plans: Sequence[Price],
    prices: PriceBook,
    now: datetime | None,
) -> Price:
    """Return the price of a plan: as quoted, else the dearest of its zones."""
    keys = keys_of(plan)
    if plan.terms.quoted is not None and now is not None:
        rate = plan.terms.quoted
        return Price(key=keys[0], rate=rate, source="your quote", as_of=now)
    if plan.purchase is Purchase.SAVINGS_PLAN and plans:
        # The shortest term, the dearest way to pay: any other plan costs less.
        return max(plans, key=_shortest_dearest)
    found = prices.list_prices(keys)
    if not found:
        raise NoPriceError(plan)
    # Of several zones the dearest counts: a job may land in any of them.
    return max(found.values(), key=lambda one: one.rate.nanos)


def _shortest_dearest(price: Price) -> tuple[int, int]:
    terms = terms_of(price.key)
    return (-terms.years if terms else 0, price.rate.nanos)


def _other_keys(plan: EstimateRequest) -> tuple[PriceKey, ...]:
    """Return the keys of other ways; spot in other regions where it can be borne."""
    regions = {plan.region, *snapshot_regions(plan.instance_type)}
    keys = set(alternative_keys(plan, sorted(regions), zones_of(plan.region)))
    if plan.can_be_interrupted:
        keys |= {
            PriceKey(
                region=region, product=plan.instance_type,
                purchase=Purchase.SPOT, zone=zone,
            )
            for region in spot_regions(plan.instance_type)
            for zone in zones_of(region)
        }  # fmt: skip
    return tuple(sorted(keys))


def _yours(plan: EstimateRequest, price: Price, prices: PriceBook) -> tuple[Rate, str]:
    """Return the organisation's own rate and why: configured, else as recently paid."""
    own = prices.yours(price)
    if own != price.rate or price.key.purchase is not Purchase.ON_DEMAND:
        return own, ""
    ledger, family = prices.ledger, family_of(plan.instance_type)
    if not isinstance(ledger, EstimateLedger) or plan.terms.quoted is not None:
        return own, ""
    through = min(ledger.billed_through().values(), default=None)
    if through is None:
        return own, ""
    until = day_of(through)
    share = ledger.paid_share(family, until - PAID_WINDOW, until)
    if share is None or share <= 0:
        return own, ""
    share = round_ratio(share)
    basis = (
        f"your {family} hours of the {PAID_WINDOW.days} days up to {until} cost"
        f" {percent(share)} of list"
    )
    return price.rate.scaled(share), basis


def _on_demand(
    plan: EstimateRequest, yours: Rate, listed: Price | None, prices: PriceBook
) -> Rate | None:
    if listed is None:
        return None
    is_asked = plan.purchase is Purchase.ON_DEMAND and plan.terms.quoted is None
    return yours if is_asked else prices.yours(listed)


def _managed(plan: EstimateRequest, prices: PriceBook) -> Rate | None:
    product = f"ml.{plan.instance_type}"
    found = prices.list_price(PriceKey(region=plan.region, product=product))
    return found.rate if found else None


def _scaling(plan: EstimateRequest, prices: PriceBook) -> Scaling | None:
    """Return how runs of the same kind of job scaled, where several counts were run."""
    if not plan.job or not isinstance(prices.ledger, EstimateLedger):
        return None
    kind = job_family(plan.job)
    runs = [
        Measured(job=run.job, count=run.count, hours=run.hours)
        for run in prices.ledger.finished_runs()
        if run.instance_type == plan.instance_type
        and run.count > 0
        and run.hours > 0
        and job_family(run.job) == kind
    ]
    return scaling_of(runs[:RUNS_COMPARED])


def _overheads(plan: EstimateRequest, past: Sequence[PastEstimate]) -> Overheads:
    learnt = calibrated(plan, past)
    overheads = learnt or stage_overheads(plan.terms.stage)
    if plan.purchase is Purchase.CAPACITY_BLOCK:
        return block_overheads(plan, overheads)
    if learnt is not None:
        return learnt
    saved = plan.terms.checkpoints
    band = spot_band(plan.instance_type, plan.region)
    return with_spot_band(
        overheads,
        band,
        count=plan.count,
        checkpoint_hours=saved.every if saved else None,
    )
