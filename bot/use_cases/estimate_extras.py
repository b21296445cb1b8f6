"""What an answer about a planned run holds besides its hours: lines, notes, ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from billing.core.checkpoints_size import STORAGE_NAME, CheckpointPlan, size_text
from billing.core.estimate import EstimateLine, EstimateRequest, Note, Stage
from billing.core.estimate_deadline import block_count, block_days, deadline_of
from billing.core.estimate_factors import Overheads
from billing.core.estimate_history import Score
from billing.core.estimate_managed import count_ways, managed_way, owned_way
from billing.core.estimate_request import number
from billing.core.estimate_scaling import Scaling
from billing.core.estimate_ways import COMMITMENTS, Alternative, Basis
from billing.core.money import USD, Money, Rate
from billing.core.plan_rates import terms_of
from billing.core.prices import Price, Purchase
from billing.core.spot_advisor import spot_band, spot_regions

#: How fast a checkpoint is taken to be written, for how long it may hold a run up.
_SAVED_PER_SECOND = 10**9
_REGIONS_NAMED = 4
_BOUGHT_FOR_YEARS = frozenset({Purchase.SAVINGS_PLAN, Purchase.RESERVED})


def checkpoint_lines(plan: EstimateRequest, currency: str) -> tuple[EstimateLine, ...]:
    """Return what keeping checkpoints costs, where it is known what is saved."""
    saved = plan.terms.checkpoints
    if saved is None or currency != USD:
        return ()
    written = size_text(saved.written(plan.hours))
    basis = (
        f"{saved.count(plan.hours)} of {size_text(saved.size)}, {written} in all,"
        f" each kept for {number(saved.keep)} h at $0.023/GB-month of 2^30 bytes"
        f" ({STORAGE_NAME})"
    )
    return (EstimateLine(name="checkpoints", cost=saved.cost(plan.hours), basis=basis),)


def notes_of(
    plan: EstimateRequest,
    overheads: Overheads,
    now: datetime | None,
    past: Score,
    price: Price,
) -> Iterator[Note]:
    """Yield what should be known of an estimate and costs nothing."""
    deadline = deadline_of(plan, overheads, now) if now else None
    if deadline is not None:
        yield Note(name="deadline", text=deadline.text)
    if plan.terms.checkpoints is not None:
        yield Note(name="saving", text=_saving(plan.terms.checkpoints, plan.hours))
    if plan.purchase in _BOUGHT_FOR_YEARS:
        yield Note(name=str(plan.purchase).replace("-", " "), text=_bought(price))
    if plan.purchase is Purchase.ODCR:
        text = "paid from when the reservation begins, whether used or not"
        yield Note(name="reservation", text=text)
    if past.judged or past.waiting:
        yield Note(name="past estimates", text=past.text)


def retraining(plan: EstimateRequest, ends: tuple[Money, Money, Money]) -> list[Note]:
    """Return what a year of the same run comes to."""
    times = plan.terms.per_year
    if times is None:
        return []
    low, expected, high = (end * times for end in ends)
    text = f"{times} runs a year cost {expected} ({low} to {high}), at today's price"
    return [Note(name="retraining", text=text)]


def _saving(saved: CheckpointPlan, hours: Fraction) -> str:
    seconds = Fraction(saved.size, _SAVED_PER_SECOND)
    share = seconds / (saved.every * 3600) * 100
    kept = size_text(saved.size * saved.kept_at_once(hours))
    return (
        f"up to {kept} at once; writing one at 1 GB/s takes {float(seconds):,.4g} s,"
        f" {float(share):.2g} % of the time between two, unless it is saved in the"
        " background"
    )


def _ceiling() -> str:
    said = ", ".join(
        f"about {off} % off for {years} year{'s' if years > 1 else ''}"
        for _, years, off in COMMITMENTS
    )
    return (
        "counted at the on-demand price, since its own rate is not known"
        f" (rule of thumb: {said}); what is not used is paid too"
    )


def _bought(price: Price) -> str:
    terms = terms_of(price.key)
    if terms is None:
        return _ceiling()
    return (
        f"counted at AWS's rate of a {terms.name}, {terms.upfront.value.lower()}: the"
        " shortest term and the dearest way to pay; what is not used is paid too"
    )


def block_overheads(plan: EstimateRequest, overheads: Overheads) -> Overheads:
    """Return the factor by which a capacity block is larger than the run.

    A block is paid whole: whole days, and instances in steps.
    """
    hours = plan.hours * overheads.of(plan).high
    days, count = block_days(hours), block_count(plan.count)
    if days is None or count is None:
        return overheads
    factor = Fraction(days * 24 * count) / (plan.hours * plan.count)
    return Overheads(
        idle_low=factor,
        idle_expected=factor,
        idle_high=factor,
        idle_basis=f"{count} instances for {days} days are paid whole",
        name="rest of the capacity block",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreWays:
    """Ways beside the ranked ones.

    Attributes:
        managed: Price of the managed type; None when nobody knows it.
        spot_known: Regions with a known spot price, which are ranked by it.
    """

    managed: Rate | None
    scaling: Scaling | None
    spot_known: frozenset[str]

    def __call__(self, basis: Basis) -> Iterator[Alternative]:
        """Yield them."""
        terms = basis.request.terms
        yield from count_ways(basis, self.scaling)
        if basis.request.can_be_interrupted:
            yield from self._elsewhere(basis.request)
        if terms.is_managed_compared or terms.stage is Stage.PRODUCTION:
            managed = managed_way(basis, self.managed)
            if managed is not None:
                yield managed
        if terms.servers is not None:
            owned = owned_way(basis, terms.servers)
            if owned is not None:
                yield owned

    def _elsewhere(self, plan: EstimateRequest) -> Iterator[Alternative]:
        """Yield the regions where spot is calmest, of those without a known price."""
        bands = [
            (region, band)
            for region in spot_regions(plan.instance_type)
            if region not in self.spot_known
            and (band := spot_band(plan.instance_type, region)) is not None
            and band.saving_pct > 0
        ]
        if not bands:
            return
        bands.sort(key=lambda one: (one[1].rank, -one[1].saving_pct, one[0]))
        named = ", ".join(
            f"{region} ({band.label} taken back in a month, {band.saving_pct} % off)"
            for region, band in bands[:_REGIONS_NAMED]
        )
        as_of = bands[0][1].as_of
        why = (
            f"calmest first, as the spot advisor saw it on {as_of:%Y-%m-%d}: {named};"
            " no price history was read there"
        )
        yield Alternative(what="spot elsewhere", expected=None, why=why)


def regions_of(prices: Sequence[Price]) -> frozenset[str]:
    """Return the regions of known spot prices."""
    return frozenset(
        one.key.region for one in prices if one.key.purchase is Purchase.SPOT
    )
