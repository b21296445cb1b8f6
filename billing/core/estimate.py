"""Estimates of a run before it starts: values, lines and the range they make.

Compute is list price x count x hours; named overheads make the expected and the high
end. A missing price gives no estimate, never $0. Pure; prices come in as values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from math import ceil
from math import pow as power

from billing.core.attribution import nearest
from billing.core.errors import GpucostError
from billing.core.gpus import accelerators, same_model
from billing.core.money import Money, Rate, round_half_even, total
from billing.core.prices import Price, PriceKey, Purchase

#: A way to run that saves less than this is not worth a mention.
LEAST_SAVING_PCT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRequest:
    """What somebody plans to run.

    Attributes:
        hours: Planned productive hours; wall-clock limit when ``is_time_limit``.
        is_time_limit: The scheduler ends it at ``hours``: factor 1, and the high end.
    """

    instance_type: str
    count: int
    hours: Fraction
    region: str
    purchase: Purchase = Purchase.ON_DEMAND
    job: str = ""
    is_time_limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateLine:
    """One named part of an estimate; the expected value is the sum of the lines."""

    name: str
    cost: Money
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another way to run the same; ``expected`` is None when its price is unknown."""

    what: str
    expected: Money | None
    why: str


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


class NoPriceError(GpucostError):
    """Nobody knows what the planned capacity costs; an estimate of $0 would be a lie."""

    code = "no_price"
    hint = "choose another region or purchase option, or set a price under `prices`"

    def __init__(self, request: EstimateRequest) -> None:
        super().__init__(
            f"no {request.purchase} price is known for {request.instance_type!r}"
            f" in {request.region!r}"
        )
        self.request = request


@dataclass(frozen=True, slots=True, kw_only=True)
class InputProblem:
    """One thing that is wrong with a planned run.

    Attributes:
        field: Name of the part, such as ``count``.
        suggestions: Near names of an unknown instance type, best first.
    """

    field: str
    message: str
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Overheads:
    """How much more than the quote a run costs; rules of thumb until calibrated.

    Attributes:
        idle_low / idle_expected / idle_high: Factors for synchronisation and idle time.
        spot_risk: Factor for work lost to interruptions, on spot only.
    """

    idle_low: Fraction = Fraction(1)
    idle_expected: Fraction = Fraction(13, 10)
    idle_high: Fraction = Fraction(3, 2)
    spot_risk: Fraction = Fraction(11, 10)

    def of(self, request: EstimateRequest) -> Overheads:
        """Return those of one run: a wall-clock limit leaves nothing to add."""
        one = Fraction(1)
        if request.is_time_limit:
            return Overheads(
                idle_low=one, idle_expected=one, idle_high=one, spot_risk=one
            )
        is_spot = request.purchase is Purchase.SPOT
        return self if is_spot else replace(self, spot_risk=one)


def problems(
    request: EstimateRequest, known_types: Iterable[str] = ()
) -> tuple[InputProblem, ...]:
    """Return everything that is wrong with a planned run; empty when nothing is.

    The instance type is only looked at when known types are given.
    """
    found = []
    if request.count < 1:
        message = f"count must be 1 or more, got {request.count}"
        found.append(InputProblem(field="count", message=message))
    if request.hours <= 0:
        message = f"hours must be more than 0, got {_number(request.hours)}"
        found.append(InputProblem(field="hours", message=message))
    names = frozenset(known_types)
    if names and request.instance_type not in names:
        found.append(
            InputProblem(
                field="instance_type",
                message=f"instance type {request.instance_type!r} is not known",
                suggestions=nearest(request.instance_type, names),
            )
        )
    return tuple(found)


def estimate(
    request: EstimateRequest,
    price: Price | None,
    *,
    yours: Rate | None = None,
    overheads: Overheads | None = None,
    candidates: Sequence[Price] = (),
) -> Estimate:
    """Estimate a planned run without problems (see `problems`).

    Args:
        request: What is planned.
        price: List price of one instance, bought as requested.
        yours: The organisation's own price of one instance; None: the list price.
        overheads: What is added; None: the defaults.
        candidates: Prices (the organisation's own) of other ways to run the same.

    Raises:
        NoPriceError: A price is missing or 0.
    """
    rate = price.rate if yours is None and price is not None else yours
    if price is None or rate is None or min(price.rate.nanos, rate.nanos) <= 0:
        raise NoPriceError(request)
    factors = (overheads or Overheads()).of(request)
    hourly, base = price.rate * request.count, _run(rate, request.count, request.hours)
    lines = _lines(request, price, rate, factors)
    expected = total((line.cost for line in lines), base.currency)
    return Estimate(
        request=request,
        hourly=hourly,
        compute=_run(price.rate, request.count, request.hours),
        low=base.scaled(factors.idle_low),
        expected=expected,
        high=base.scaled(factors.idle_high * factors.spot_risk),
        lines=lines,
        list_rate=price.rate,
        yours=rate,
        price_source=price.source,
        price_as_of=price.as_of,
        alternatives=alternatives(request, expected, candidates, overheads=overheads),
    )


def alternatives(
    request: EstimateRequest,
    expected: Money,
    candidates: Sequence[Price],
    *,
    overheads: Overheads | None = None,
) -> tuple[Alternative, ...]:
    """Rank cheaper ways to run the same, cheapest first; unknown spot stands last."""
    ways: dict[str, tuple[Money, str]] = {}
    for price in candidates:
        way = _way(request, price, overheads or Overheads())
        if way is None or way[1].currency != expected.currency:
            continue
        what, cost, why = way
        if _is_cheaper(cost, expected) and (what not in ways or cost < ways[what][0]):
            ways[what] = cost, f"{expected - cost} less, {why}"
    ranked = sorted(ways.items(), key=lambda item: (item[1][0].nanos, item[0]))
    found = [
        Alternative(what=what, expected=cost, why=why) for what, (cost, why) in ranked
    ]
    has_spot = any(price.key.purchase is Purchase.SPOT for price in candidates)
    if request.purchase is Purchase.ON_DEMAND and not has_spot:
        why = f"no spot price is known in {request.region}"
        found.append(Alternative(what="spot", expected=None, why=why))
    return tuple(found)


def _is_cheaper(cost: Money, expected: Money) -> bool:
    """Tell whether changing plans would save anything to speak of."""
    return cost.nanos * 100 <= expected.nanos * (100 - LEAST_SAVING_PCT)


def alternative_keys(
    request: EstimateRequest, regions: Iterable[str], zones: Iterable[str] = ()
) -> tuple[PriceKey, ...]:
    """Return the keys whose prices `estimate` can compare with, sorted.

    Spot in the region's zones, the same type in other regions, and other types with
    the same accelerator in the same region.
    """
    kind, region = request.instance_type, request.region
    keys = {PriceKey(region=other, product=kind) for other in regions}
    keys |= {PriceKey(region=region, product=other) for other in same_model(kind)}
    keys |= {
        PriceKey(region=region, product=kind, purchase=Purchase.SPOT, zone=zone)
        for zone in zones
    }
    return tuple(sorted(keys - {PriceKey(region=region, product=kind)}))


def probability_interrupted(rate_per_day: float, days: float) -> float:
    """Return the chance of at least one interruption in a number of days.

    >>> round(probability_interrupted(0.024, 14), 4)
    0.2883
    """
    return 1.0 - power(1.0 - rate_per_day, days)


def _lines(
    request: EstimateRequest, price: Price, rate: Rate, factors: Overheads
) -> tuple[EstimateLine, ...]:
    compute = _run(price.rate, request.count, request.hours)
    base = _run(rate, request.count, request.hours)
    idle = base.scaled(factors.idle_expected - 1)
    risk = (base + idle).scaled(factors.spot_risk - 1)
    quote = f"{request.count} x {request.instance_type} x {_number(request.hours)} h"
    lines = [
        EstimateLine(name="compute", cost=compute, basis=f"{quote} at {price.rate}"),
        EstimateLine(
            name="your price",
            cost=base - compute,
            basis=f"{rate} instead of {price.rate}",
        ),
        EstimateLine(
            name="synchronisation and idle",
            cost=idle,
            basis=f"x {_number(factors.idle_expected)} on compute",
        ),
        EstimateLine(
            name="spot interruptions",
            cost=risk,
            basis=f"x {_number(factors.spot_risk)} for work done again",
        ),
    ]
    return (lines[0], *(line for line in lines[1:] if line.cost.nanos))


def _way(
    request: EstimateRequest, price: Price, overheads: Overheads
) -> tuple[str, Money, str] | None:
    """Return what another way is called, what it costs and what to know of it."""
    key = price.key
    count = _count_of(request, key.product)
    is_same = (key.product, key.region, key.purchase) == (
        request.instance_type,
        request.region,
        request.purchase,
    )
    if count is None or is_same or price.rate.nanos <= 0:
        return None
    factors = overheads.of(replace(request, purchase=key.purchase))
    factor = factors.idle_expected * factors.spot_risk
    cost = _run(price.rate, count, request.hours).scaled(factor)
    parts, notes = [], [f"at {price.rate}"]
    if key.product != request.instance_type:
        parts.append(f"{count} x {key.product}")
        notes.append("the same accelerators")
    if key.purchase is not request.purchase:
        parts.append(str(key.purchase))
    if key.purchase is Purchase.SPOT:
        notes.append("can be taken back")
    if key.region != request.region:
        parts.append(key.region)
        notes.append("data must be there")
    return " ".join(parts), cost, ", ".join(notes)


def _count_of(request: EstimateRequest, product: str) -> int | None:
    """Return how many instances of a type hold the accelerators of the request."""
    if product == request.instance_type:
        return request.count
    mine, other = accelerators(request.instance_type), accelerators(product)
    is_alike = product in same_model(request.instance_type)
    if mine is None or other is None or not is_alike:
        return None
    return ceil(request.count * mine.physical / other.physical)


def _run(rate: Rate, count: int, hours: Fraction) -> Money:
    return Money(round_half_even(rate.nanos * count * hours), rate.currency)


def _number(value: Fraction) -> str:
    return f"{float(value):.10g}"
