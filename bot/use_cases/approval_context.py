"""Sentences that help to decide a request: budget left, and how similar runs went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from billing.core.attribution import TagKeys
from billing.core.estimate import Estimate
from billing.core.estimate_history import ALIKE_COUNT, PastEstimate
from billing.core.money import Money
from billing.core.periods import day_of, month_start
from billing.ports import BillLedger
from bot.use_cases.cost import ask_cost
from bot.use_cases.estimate_history import past_of
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import PriceBook
from bot.views.words import amount, plural, short_day

#: Similar runs that are named.
NAMED_MAX = 3


def decision_context(
    ledger: BillLedger,
    found: Estimate | None,
    *,
    team: str,
    budgets: Mapping[str, Money],
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> tuple[str, ...]:
    """Return what an approver would look up before deciding."""
    lines = []
    budget = {name.lower(): one for name, one in budgets.items()}.get(team.lower())
    if team and budget is not None:
        question = CostQuestion(team=team.lower(), since=month_start(day_of(now)))
        spent = ask_cost(
            ledger, question, prices=prices, keys=keys, stale=(), now=now
        ).total
        lines.append(_budget(team, budget, spent, found))
    if found is not None:
        lines += similar_runs(past_of(ledger), found)
    return tuple(lines)


def _budget(
    team: str, budget: Money, spent: Money | None, found: Estimate | None
) -> str:
    if spent is None or spent.currency != budget.currency:
        return f"budget of {team} this month: {amount(budget)}; spent so far: unknown"
    left = budget - spent
    said = (
        f"{amount(left)} left of {team}'s {amount(budget)} this month"
        if left.nanos >= 0
        else f"{team} is {amount(-left)} over its {amount(budget)} of this month"
    )
    if found is None or found.high.currency != left.currency or left.nanos < 0:
        return said
    fits = "the high end fits" if found.high <= left else "the high end does not fit"
    return f"{said}: {fits}"


def similar_runs(past: Iterable[PastEstimate], found: Estimate) -> list[str]:
    """Say how estimates of similar runs held; nothing when there were none."""
    plan, latest = found.request, dict[str, PastEstimate]()
    for one in sorted(past, key=lambda each: each.made_at):
        counts = sorted((one.count, plan.count))
        is_alike = one.instance_type == plan.instance_type and counts[1] <= (
            counts[0] * ALIKE_COUNT
        )
        if one.actual is not None and is_alike:
            latest[one.job] = one
    if not latest:
        return []
    runs = sorted(latest.values(), key=lambda one: one.made_at, reverse=True)
    held = sum(one.actual is not None and one.actual <= one.high for one in runs)
    of = plural(len(runs), "similar run")
    first = f"{held} of {of} ended within the high end of the estimate"
    return [first, *(_run(one) for one in runs[:NAMED_MAX])]


def _run(one: PastEstimate) -> str:
    assert one.actual is not None
    return (
        f"{one.job} ({short_day(one.made_at.date())}): {one.count} x"
        f" {one.instance_type}, {float(one.hours):g} h, estimated {amount(one.low)} to"
        f" {amount(one.high)}, cost {amount(one.actual)}"
    )
