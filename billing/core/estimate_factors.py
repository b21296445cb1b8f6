"""How much more than its quote a run costs, and why: defaults, stages, spot restarts.

Every factor carries its basis, so that an answer can say where it comes from. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import log

from billing.core.estimate_request import EstimateRequest, Stage, number
from billing.core.prices import Purchase
from billing.core.spot_advisor import SpotBand

#: Hours of the month that interruption frequencies are stated for.
HOURS_PER_MONTH = 730
#: Cluster hours to be running again after an interruption: usual, and at worst.
RESTART_HOURS = (Fraction(1), Fraction(4))
#: How often a run on spot saves its state when nothing is said.
CHECKPOINT_HOURS = Fraction(1, 2)
RULE_OF_THUMB = "rule of thumb"
#: Stage -> low, expected and high factor for synchronisation and idle time, and why.
#: Quotes grow by 1.3 to 1.5 in practice; one published 32-node run ended at 2.42 times.
_STAGES: dict[Stage | None, tuple[Fraction, Fraction, Fraction, str]] = {
    None: (Fraction(1), Fraction(13, 10), Fraction(3, 2), RULE_OF_THUMB),
    Stage.PRODUCTION: (
        Fraction(1),
        Fraction(13, 10),
        Fraction(3, 2),
        f"{RULE_OF_THUMB} for production",
    ),
    Stage.EXPERIMENT: (
        Fraction(1),
        Fraction(3, 2),
        Fraction(242, 100),
        f"{RULE_OF_THUMB} for experiments",
    ),
}
#: Digits kept of a factor that comes out of a logarithm.
_PLACES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Overheads:
    """How much more than the quote a run costs; rules of thumb until calibrated.

    Attributes:
        idle_low / idle_expected / idle_high: Factors for synchronisation and idle time.
        spot_risk: Factor for work lost to interruptions, on spot only.
        spot_risk_high: The same at the high end; None: ``spot_risk``.
        idle_basis / spot_basis: Where the factors come from.
        is_calibrated: They come from finished runs, spot restarts included.
        name: What the line that they make is called.
    """

    idle_low: Fraction = Fraction(1)
    idle_expected: Fraction = Fraction(13, 10)
    idle_high: Fraction = Fraction(3, 2)
    spot_risk: Fraction = Fraction(11, 10)
    spot_risk_high: Fraction | None = None
    idle_basis: str = RULE_OF_THUMB
    spot_basis: str = RULE_OF_THUMB
    is_calibrated: bool = False
    name: str = "synchronisation and idle"

    @property
    def low(self) -> Fraction:
        """Return the factor of the low end."""
        return self.idle_low

    @property
    def expected(self) -> Fraction:
        """Return the factor that is expected."""
        return self.idle_expected * self.spot_risk

    @property
    def high(self) -> Fraction:
        """Return the factor of the high end."""
        return self.idle_high * (self.spot_risk_high or self.spot_risk)

    def of(self, request: EstimateRequest) -> Overheads:
        """Return those of one run: a wall-clock limit leaves nothing to add."""
        one = Fraction(1)
        if request.is_time_limit:
            return Overheads(
                idle_low=one,
                idle_expected=one,
                idle_high=one,
                spot_risk=one,
                idle_basis="the scheduler ends it",
            )
        is_spot = request.purchase is Purchase.SPOT
        if is_spot and not self.is_calibrated:
            return self
        return replace(self, spot_risk=one, spot_risk_high=None)


def stage_overheads(stage: Stage | None) -> Overheads:
    """Return the default factors of a stage; None: as nothing was said."""
    low, expected, high, basis = _STAGES[stage]
    return Overheads(
        idle_low=low, idle_expected=expected, idle_high=high, idle_basis=basis
    )


def with_spot_band(
    overheads: Overheads,
    band: SpotBand | None,
    *,
    count: int,
    checkpoint_hours: Fraction | None = None,
) -> Overheads:
    """Put the losses of a band in place of the rule of thumb; None: it stays.

    One instance taken back stops all of them: each time the restart and half of what
    was done since the last checkpoint are paid again.
    """
    if band is None:
        return overheads
    every = checkpoint_hours or CHECKPOINT_HOURS
    usual, worst = RESTART_HOURS
    said = "by default" if checkpoint_hours is None else "as planned"
    return replace(
        overheads,
        spot_risk=_loss(band.middle, count, usual + every / 2),
        spot_risk_high=_loss(band.top, count, worst + every / 2),
        spot_basis=(
            f"{band.label} of instances taken back in a month"
            f" (spot advisor, {band.as_of:%Y-%m-%d}), {number(usual)} h to restart,"
            f" a checkpoint every {number(every * 60)} min {said}"
        ),
    )


def _loss(share: Fraction, count: int, hours: Fraction) -> Fraction:
    """Return 1 + the share of time lost, if instances fail independently.

    >>> _loss(Fraction(1, 4), 32, Fraction(5, 4))
    Fraction(5079, 5000)
    """
    per_hour = -log(1.0 - float(share)) / HOURS_PER_MONTH
    return 1 + Fraction(round(per_hour * count * float(hours) * _PLACES), _PLACES)
