"""Other ways to run the same: spot, places, types and ways to buy; ranked.

What costs the same or more is left out, what nobody knows a price for is said to be
unknown, and what binds for a year or can be taken back says so. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from math import ceil

from billing.core.estimate_deadline import BLOCK_AHEAD, block_count, block_days
from billing.core.estimate_factors import Overheads, with_spot_band
from billing.core.estimate_request import EstimateRequest, Stage
from billing.core.gpus import accelerators, same_model
from billing.core.money import Money, Rate, round_half_even
from billing.core.plan_rates import PlanKind, PlanTerms, terms_of
from billing.core.prices import Price, PriceKey, Purchase
from billing.core.spot_advisor import spot_band

#: A way to run that saves less than this is not worth a mention.
LEAST_SAVING_PCT = 1
#: Commitments: name, years, percent off on demand (rules of thumb;
#: an organisation's own rate, where known, stands in their place).
COMMITMENTS = (
    ("savings plan or reserved, 1 year", 1, 40),
    ("savings plan or reserved, 3 years", 3, 50),
)
WARNING = "not said to be interruptible: AWS may take it back at two minutes' notice"


class Rank(IntEnum):
    """In which order ways are told; by cost within a rank."""

    PREFERRED = 0
    FREE = 1
    BINDING = 2
    WARNED = 3
    UNKNOWN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another way to run the same; ``expected`` is None when its price is unknown."""

    what: str
    expected: Money | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A way with its place among the others."""

    rank: Rank
    what: str
    cost: Money | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What ways are compared with.

    Attributes:
        expected: What the request itself is expected to cost.
        rate: The organisation's own rate of one instance as requested.
        added: What comes on top whatever the way, such as checkpoints.
        on_demand: Its own on-demand rate; None when nobody knows it.
        checkpoint_hours: How often it saves its state; None: not said.
        plans: Rates of the Savings Plans on offer for its type.
    """

    request: EstimateRequest
    expected: Money
    rate: Rate
    overheads: Overheads = field(default_factory=Overheads)
    added: Money | None = None
    on_demand: Rate | None = None
    checkpoint_hours: Fraction | None = None
    plans: tuple[Price, ...] = ()

    def cost_of(self, rate: Rate, count: int, factor: Fraction) -> Money:
        """Return what a rate comes to over the run, with what comes on top."""
        cost = run_cost(rate, count, self.request.hours).scaled(factor)
        return cost if self.added is None else cost + self.added


def alternatives(basis: Basis, candidates: Sequence[Price]) -> tuple[Alternative, ...]:
    """Rank other ways to run the same."""
    ways = [*_priced(basis, candidates), *_bought_ahead(basis)]
    has_spot = any(price.key.purchase is Purchase.SPOT for price in candidates)
    if basis.request.purchase is Purchase.ON_DEMAND and not has_spot:
        ways.append(_unknown_spot(basis))
    ranked = sorted(ways, key=lambda way: (way.rank, _nanos(way), way.what))
    return tuple(
        Alternative(what=way.what, expected=way.cost, why=way.why) for way in ranked
    )


def alternative_keys(
    request: EstimateRequest, regions: Iterable[str], zones: Iterable[str] = ()
) -> tuple[PriceKey, ...]:
    """Return the keys whose prices `alternatives` can compare with, sorted.

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
    own = PriceKey(region=region, product=kind)
    is_listed = request.purchase is Purchase.ON_DEMAND
    return tuple(sorted(keys - {own} if is_listed else keys | {own}))


def run_cost(rate: Rate, count: int, hours: Fraction) -> Money:
    """Return what instances cost over hours, rounded half-even to a nano-unit."""
    return Money(round_half_even(rate.nanos * count * hours), rate.currency)


def _nanos(way: Way) -> int:
    return 0 if way.cost is None else way.cost.nanos


def _priced(basis: Basis, candidates: Sequence[Price]) -> Iterator[Way]:
    """Yield the cheapest price of each way that is cheaper than the request."""
    ways: dict[str, Way] = {}
    for price in candidates:
        way = _way(basis, price)
        if way is None or way.cost is None:
            continue
        best = ways.get(way.what)
        if best is None or best.cost is None or way.cost < best.cost:
            ways[way.what] = way
    yield from ways.values()


def _way(basis: Basis, price: Price) -> Way | None:
    """Return one way, or None when it is no other one, or saves nothing."""
    request, key = basis.request, price.key
    count = _count_of(request, key.product)
    mine = (request.instance_type, request.region, request.purchase)
    is_same = (key.product, key.region, key.purchase) == mine
    is_foreign = price.rate.currency != basis.expected.currency
    if count is None or is_same or is_foreign or price.rate.nanos <= 0:
        return None
    is_spot = key.purchase is Purchase.SPOT
    overheads = _overheads(basis, key, count)
    run = replace(request, purchase=key.purchase)
    cost = basis.cost_of(price.rate, count, overheads.of(run).expected)
    if not is_cheaper(cost, basis.expected):
        return None
    what, notes = _named(request, price, count)
    if is_spot:
        notes += _spot_notes(request, overheads)
    rank = Rank.FREE
    if is_spot:
        rank = Rank.PREFERRED if request.can_be_interrupted else Rank.WARNED
    why = f"{basis.expected - cost} less, {', '.join(notes)}"
    return Way(rank=rank, what=what, cost=cost, why=why)


def _overheads(basis: Basis, key: PriceKey, count: int) -> Overheads:
    """Return the factors of a way: runs that were not on spot say nothing of spot."""
    overheads = basis.overheads
    was_spot = basis.request.purchase is Purchase.SPOT
    if key.purchase is not Purchase.SPOT or (was_spot and overheads.is_calibrated):
        return overheads
    return with_spot_band(
        replace(overheads, is_calibrated=False),
        spot_band(key.product, key.region),
        count=count,
        checkpoint_hours=basis.checkpoint_hours,
    )


def _named(request: EstimateRequest, price: Price, count: int) -> tuple[str, list[str]]:
    """Return what a way is called, and what to know of it."""
    key = price.key
    parts, notes = [], [f"at {price.rate}"]
    if key.product != request.instance_type:
        parts.append(f"{count} x {key.product}")
        notes.append("the same accelerators")
    if key.purchase is not request.purchase:
        parts.append(str(key.purchase))
    if key.region != request.region:
        parts.append(key.region)
        notes.append("data must be there")
    return " ".join(parts), notes


def _spot_notes(request: EstimateRequest, overheads: Overheads) -> list[str]:
    if not request.can_be_interrupted:
        return [WARNING]
    again = f"x {float(overheads.spot_risk):.4g} for work done again"
    return [f"{again} ({overheads.spot_basis})"]


def is_cheaper(cost: Money, expected: Money) -> bool:
    """Tell whether changing plans would save anything to speak of."""
    return cost.nanos * 100 <= expected.nanos * (100 - LEAST_SAVING_PCT)


def _unknown_spot(basis: Basis) -> Way:
    request = basis.request
    why = f"no spot price is known in {request.region}"
    return Way(rank=Rank.UNKNOWN, what="spot", cost=None, why=why)


def _bought_ahead(basis: Basis) -> Iterator[Way]:
    """Yield commitments and reserved capacity, where they fit what is planned."""
    request = basis.request
    if request.purchase not in {Purchase.ON_DEMAND, Purchase.SPOT}:
        return
    if request.terms.stage is Stage.PRODUCTION and basis.on_demand is not None:
        offered = _offered(basis)
        yield from _plans(basis, basis.on_demand, offered)
        known = {terms.years for terms in offered}
        yield from _commitments(basis, basis.on_demand, known)
    if request.terms.deadline is not None:
        yield from _blocks(basis)


def _offered(basis: Basis) -> dict[PlanTerms, Price]:
    """Return the plans on offer in the currency of the estimate."""
    return {
        terms: price
        for price in basis.plans
        if (terms := terms_of(price.key)) is not None
        and price.rate.currency == basis.expected.currency
        and price.rate.nanos > 0
    }


def _plans(
    basis: Basis, on_demand: Rate, offered: dict[PlanTerms, Price]
) -> Iterator[Way]:
    """Yield each kind and term of plan, at its dearest way to pay: nothing upfront."""
    kinds: dict[tuple[PlanKind, int], list[PlanTerms]] = {}
    for terms in offered:
        kinds.setdefault((terms.kind, terms.years), []).append(terms)
    for some in kinds.values():
        some.sort(key=lambda terms: (-offered[terms].rate.nanos, terms.code))
        way = _plan(basis, on_demand, [(terms, offered[terms]) for terms in some])
        if way is not None:
            yield way


def _plan(
    basis: Basis, on_demand: Rate, paid: Sequence[tuple[PlanTerms, Price]]
) -> Way | None:
    request = basis.request
    terms, price = paid[0]
    run = replace(request, purchase=Purchase.SAVINGS_PLAN)
    factor = basis.overheads.of(run).expected
    cost = basis.cost_of(price.rate, request.count, factor)
    if not is_cheaper(cost, basis.expected):
        return None
    term = run_cost(price.rate, request.count, Fraction(24 * 365 * terms.years))
    use = round_half_even(Fraction(100 * price.rate.nanos, on_demand.nanos))
    held = ""
    if terms.kind is PlanKind.EC2_INSTANCE:
        held = (
            f"; held to {request.instance_type.partition('.')[0]} in {request.region}"
        )
    others = "".join(
        f"; {other.rate} with {one.upfront.value.lower()}" for one, other in paid[1:]
    )
    why = (
        f"{basis.expected - cost} less at {price.rate} with"
        f" {terms.upfront.value.lower()} (AWS's rate of {price.as_of:%Y-%m-%d}), but"
        f" {term} is owed over the term: pays above {use} % use of it{others}{held}"
    )
    return Way(rank=Rank.BINDING, what=terms.name, cost=cost, why=why)


def _commitments(
    basis: Basis, on_demand: Rate, known: Collection[int]
) -> Iterator[Way]:
    """Yield terms by rule of thumb, where no plan's own rate is known."""
    request = basis.request
    factor = basis.overheads.of(
        replace(request, purchase=Purchase.SAVINGS_PLAN)
    ).expected
    for what, years, off in COMMITMENTS:
        if years in known:
            continue
        rate = on_demand.scaled(Fraction(100 - off, 100))
        cost = basis.cost_of(rate, request.count, factor)
        if not is_cheaper(cost, basis.expected):
            continue
        term = run_cost(rate, request.count, Fraction(24 * 365 * years))
        why = (
            f"{basis.expected - cost} less at about {off} % off (rule of thumb), but"
            f" {term} is owed over the term: pays above {100 - off} % use of it"
        )
        yield Way(rank=Rank.BINDING, what=what, cost=cost, why=why)


def _blocks(basis: Basis) -> Iterator[Way]:
    """Yield the capacity block that would hold the run; its price is quoted by AWS."""
    request = basis.request
    hours = request.hours * basis.overheads.of(request).high
    days, count = block_days(hours), block_count(request.count)
    if days is None or count is None:
        why = "no capacity block is that large or that long"
    else:
        weeks = BLOCK_AHEAD.days // 7
        why = (
            f"{count} instances for {days} days hold its high end and are sure to be"
            f" there; can begin up to {weeks} weeks ahead; price unknown until AWS"
            " quotes it (aws ec2 describe-capacity-block-offerings)"
        )
    yield Way(rank=Rank.UNKNOWN, what="capacity-block", cost=None, why=why)
    if basis.on_demand is not None and request.purchase is Purchase.ON_DEMAND:
        why = (
            "the same price, and the instances are held for you from when it begins;"
            " paid whether used or not"
        )
        yield Way(rank=Rank.UNKNOWN, what="odcr", cost=basis.expected, why=why)


def _count_of(request: EstimateRequest, product: str) -> int | None:
    """Return how many instances of a type hold the accelerators of the request."""
    if product == request.instance_type:
        return request.count
    mine, other = accelerators(request.instance_type), accelerators(product)
    is_alike = product in same_model(request.instance_type)
    if mine is None or other is None or not is_alike:
        return None
    return ceil(request.count * mine.physical / other.physical)
