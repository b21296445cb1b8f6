"""Gather what commitments cover, what nearly every hour uses, and which plans end.

Coverage is AWS's, over the whole organisation; the baseline is that of the inventory.
Where both do not speak of the same use, the baseline stays unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from billing.core.baseline import family_of, hourly_use, percentile
from billing.core.fleet import ScopeFailure
from billing.core.money import Money, Rate
from billing.core.periods import HOUR, Period, day_of, start_of
from billing.core.plan_rates import PlanKind, PlanTerms, Upfront
from billing.core.prices import PriceKey, Purchase
from billing.core.usage import UsageInterval
from billing.ports import (
    BillLedger,
    CommitmentFacts,
    CommitmentPlans,
    CommitmentSource,
    OwnedPlan,
    SourceUnavailableError,
)
from bot.use_cases.checkpoint_facts import failure_of
from bot.use_cases.pricing import PriceBook
from policies.core.evaluate import Needs

#: The inventory's use and AWS's must agree by this much to be of the same.
AGREES = Fraction(1, 10)
#: The plan that a suggestion is priced with: the one that binds least.
TERMS = PlanTerms(kind=PlanKind.COMPUTE, years=1, upfront=Upfront.NO)


def coverage(
    needs: Needs,
    source: CommitmentSource | None,
    now: datetime,
    failures: list[ScopeFailure],
) -> tuple[CommitmentFacts, ...] | None:
    """Return coverage per family; None when it could not be read."""
    if not needs.families or needs.coverage_lookback is None or source is None:
        return None
    since, today = day_of(now - needs.coverage_lookback), day_of(now)
    try:
        return tuple(source.facts(needs.families, since, today))
    except SourceUnavailableError as error:
        failures.append(failure_of(error))
        return None


def owned_plans(
    needs: Needs, source: CommitmentPlans | None, failures: list[ScopeFailure]
) -> tuple[OwnedPlan, ...] | None:
    """Return the Savings Plans that are owned; None when they could not be read."""
    if not needs.families or source is None:
        return None
    try:
        return tuple(source.plans())
    except SourceUnavailableError as error:
        failures.append(failure_of(error))
        return None


def with_baseline(
    ledger: BillLedger, known: Sequence[CommitmentFacts], prices: PriceBook
) -> tuple[CommitmentFacts, ...]:
    """Attach the baseline of each family where the inventory watched all of the window."""
    found = []
    for facts in known:
        period = Period(start_of(facts.since), start_of(facts.until))
        watched = ledger.watched_since()
        if not watched or max(watched.values()) > period.start:
            found.append(facts)  # a part of the hours was not watched
            continue
        found.append(_based(ledger, facts, period, prices))
    return tuple(found)


def _based(
    ledger: BillLedger, facts: CommitmentFacts, period: Period, prices: PriceBook
) -> CommitmentFacts:
    intervals = ledger.intervals(period)
    hours = hourly_use(intervals, facts.family, period, lambda one: _rate(prices, one))
    if not hours or not _agree(sum(hours), facts.eligible.nanos):
        return facts
    base = percentile(hours)
    covered = Fraction(facts.covered.nanos, period.duration // HOUR)
    return replace(
        facts,
        baseline=Money(base, facts.eligible.currency),
        baseline_covered_pct=float(100 * covered / base) if base else None,
        plan_share=_plan_share(prices, intervals, facts.family),
    )


def _rate(prices: PriceBook, one: UsageInterval) -> Rate | None:
    price = prices.list_price(
        PriceKey(
            region=one.region,
            product=one.shape,
            platform=one.platform,
            tenancy=one.tenancy,
        )
    )
    return None if price is None else price.rate


def _agree(ours: int, theirs: int) -> bool:
    return abs(ours - theirs) <= AGREES * max(ours, theirs)


def _plan_share(
    prices: PriceBook, intervals: Sequence[UsageInterval], family: str
) -> Fraction | None:
    """Return the plan's rate by the on-demand rate of a type in use; None if unknown."""
    for one in sorted(intervals, key=lambda one: one.resource_id):
        if family_of(one.shape) != family:
            continue
        listed = _rate(prices, one)
        plan = prices.list_price(
            PriceKey(
                region=one.region,
                product=one.shape,
                purchase=Purchase.SAVINGS_PLAN,
                platform=one.platform,
                tenancy=one.tenancy,
                zone=TERMS.code,
            )
        )
        if listed is not None and plan is not None and listed.nanos:
            return Fraction(plan.rate.nanos, listed.nanos)
    return None
