"""Estimates of a run before it starts: values, lines and the range they make.

Compute is list price x count x hours; named overheads make the expected and the high
end. A missing price gives no estimate, never $0. Pure; prices come in as values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import pow as power

from billing.core.estimate_factors import Overheads
from billing.core.estimate_request import (
    EstimateRequest,
    InputProblem,
    NoPriceError,
    Stage,
    Terms,
    number,
    problems,
)
from billing.core.estimate_ways import (
    Alternative,
    Basis,
    alternative_keys,
    alternatives,
    run_cost,
)
from billing.core.money import Money, Rate, total
from billing.core.prices import Price, Purchase

__all__ = [
    "Alternative",
    "Estimate",
    "EstimateLine",
    "EstimateRequest",
    "Extras",
    "InputProblem",
    "NoPriceError",
    "Note",
    "Overheads",
    "Stage",
    "Terms",
    "alternative_keys",
    "estimate",
    "probability_interrupted",
    "problems",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateLine:
    """One named part of an estimate; the expected value is the sum of the lines."""

    name: str
    cost: Money
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something to know of an estimate that adds no cost, such as its deadline."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What an estimate holds besides the hours of its instances.

    Attributes:
        lines: Costs on top, such as checkpoints; the same at the low and high end.
        notes: What to know.
        on_demand: The organisation's own on-demand rate; None when nobody knows it.
        checkpoint_hours: How often the run saves its state; None: not said.
        price_basis: Why the organisation's own price differs from the list.
        plans: Rates of the Savings Plans on offer for its type.
        more_ways: Further ways to run it, told after the ranked ones.
    """

    lines: tuple[EstimateLine, ...] = ()
    notes: tuple[Note, ...] = ()
    on_demand: Rate | None = None
    checkpoint_hours: Fraction | None = None
    price_basis: str = ""
    plans: tuple[Price, ...] = ()
    more_ways: Callable[[Basis], Iterable[Alternative]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The answer of `gpucost estimate`.

    Attributes:
        hourly: List price per hour of all instances.
        compute: ``hourly`` x hours, exactly.
        yours: The organisation's own price of one instance (discounts, overrides).
        price_source / price_as_of: Where the list price comes from.
    """

    request: EstimateRequest
    hourly: Rate
    compute: Money
    low: Money
    expected: Money
    high: Money
    lines: tuple[EstimateLine, ...]
    list_rate: Rate
    yours: Rate
    price_source: str
    price_as_of: datetime
    alternatives: tuple[Alternative, ...]
    notes: tuple[Note, ...] = ()


def estimate(
    request: EstimateRequest,
    price: Price | None,
    *,
    yours: Rate | None = None,
    overheads: Overheads | None = None,
    candidates: Sequence[Price] = (),
    extras: Extras | None = None,
) -> Estimate:
    """Estimate a planned run without problems (see `problems`).

    Args:
        request: What is planned.
        price: List price of one instance, bought as requested.
        yours: The organisation's own price of one instance; None: the list price.
        overheads: What is added; None: the defaults.
        candidates: Prices (the organisation's own) of other ways to run the same.
        extras: What comes on top.

    Raises:
        NoPriceError: A price is missing or 0.
    """
    rate = price.rate if yours is None and price is not None else yours
    if price is None or rate is None or min(price.rate.nanos, rate.nanos) <= 0:
        raise NoPriceError(request)
    more = extras or Extras()
    factors = (overheads or Overheads()).of(request)
    base = run_cost(rate, request.count, request.hours)
    lines = (*_lines(request, price, rate, factors, more.price_basis), *more.lines)
    added = total((line.cost for line in more.lines), base.currency)
    expected = total((line.cost for line in lines), base.currency)
    basis = Basis(
        request=request, expected=expected, rate=rate, added=added,
        overheads=overheads or Overheads(), on_demand=more.on_demand,
        checkpoint_hours=more.checkpoint_hours, plans=more.plans,
    )  # fmt: skip
    return Estimate(
        request=request,
        hourly=price.rate * request.count,
        compute=run_cost(price.rate, request.count, request.hours),
        low=base.scaled(factors.low) + added,
        expected=expected,
        high=base.scaled(factors.high) + added,
        lines=lines, list_rate=price.rate, yours=rate,
        price_source=price.source, price_as_of=price.as_of,
        alternatives=_ways(basis, candidates, more), notes=more.notes,
    )  # fmt: skip


def _ways(
    basis: Basis, candidates: Sequence[Price], more: Extras
) -> tuple[Alternative, ...]:
    further = () if more.more_ways is None else more.more_ways(basis)
    return (*alternatives(basis, candidates), *further)


def probability_interrupted(rate_per_day: float, days: float) -> float:
    """Return the chance of at least one interruption in a number of days.

    >>> round(probability_interrupted(0.024, 14), 4)
    0.2883
    """
    return 1.0 - power(1.0 - rate_per_day, days)


def _lines(
    request: EstimateRequest,
    price: Price,
    rate: Rate,
    factors: Overheads,
    price_basis: str = "",
) -> tuple[EstimateLine, ...]:
    compute = run_cost(price.rate, request.count, request.hours)
    base = run_cost(rate, request.count, request.hours)
    idle = base.scaled(factors.idle_expected - 1)
    risk = (base + idle).scaled(factors.spot_risk - 1)
    quote = f"{request.count} x {request.instance_type} x {number(request.hours)} h"
    is_spot = request.purchase is Purchase.SPOT
    lines = [
        EstimateLine(name="compute", cost=compute, basis=f"{quote} at {price.rate}"),
        EstimateLine(
            name="your price",
            cost=base - compute,
            basis=f"{rate} instead of {price.rate}"
            f"{f', {price_basis}' if price_basis else ''}",
        ),
        EstimateLine(
            name=factors.name,
            cost=idle,
            basis=f"x {float(factors.idle_expected):.4g} on compute, {factors.idle_basis}",
        ),
        EstimateLine(
            name="spot interruptions",
            cost=risk,
            basis=f"x {float(factors.spot_risk):.4g} for work done again"
            f"{f', {factors.spot_basis}' if is_spot else ''}",
        ),
    ]
    return (lines[0], *(line for line in lines[1:] if line.cost.nanos))
