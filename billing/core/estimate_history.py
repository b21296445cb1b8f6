"""What past estimates and finished runs teach the next estimate. Pure.

An estimate is judged by what its job really cost; a run that is not billed to its end is
not judged yet. Too few runs teach nothing: the rules of thumb stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import floor

from billing.core.estimate_factors import Overheads
from billing.core.estimate_request import EstimateRequest
from billing.core.gpus import family_of
from billing.core.money import Money
from billing.core.prices import Purchase

#: Finished runs that must be alike before they stand in for the rules of thumb.
ENOUGH = 5
#: Runs are alike when their counts differ by at most this factor.
ALIKE_COUNT = 4
#: Runs named in an answer; the others are counted.
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PastEstimate:
    """An estimate on record, and what became of it.

    Attributes:
        base: Quote at the organisation's own price: what factors multiply.
        actual: What the job cost, before credits; None while it is not known.
        request_id: Approval request it was made for; "" for none.
    """

    estimate_id: int
    job: str
    instance_type: str
    count: int
    hours: Fraction
    purchase: Purchase
    region: str
    base: Money
    low: Money
    expected: Money
    high: Money
    made_at: datetime
    request_id: str = ""
    actual: Money | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A job that is over and billed to its end.

    Attributes:
        instance_type: The one it used most; "" when the inventory never saw it.
        count: Most instances at once; 0 when the inventory never saw any.
        hours: From its first start to its last end.
    """

    job: str
    instance_type: str
    count: int
    hours: Fraction
    cost: Money
    started_at: datetime
    finished_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How good past estimates were.

    Attributes:
        judged: Estimates whose job is over and billed.
        waiting: Estimates whose job is not.
        within: Judged ones whose job cost between low and high.
        median_error: Median of how far expected was off, as a share of the real cost.
    """

    judged: int
    waiting: int
    within: int
    median_error: Fraction | None

    @property
    def coverage(self) -> Fraction | None:
        """Return the share that cost between low and high; None when none is judged."""
        return Fraction(self.within, self.judged) if self.judged else None

    @property
    def text(self) -> str:
        """Say it for a person."""
        if self.coverage is None or self.median_error is None:
            waits = "waits for its bill" if self.waiting == 1 else "wait for their bill"
            left = f": {self.waiting} {waits}" if self.waiting else ""
            return f"none can be judged yet{left}"
        return (
            f"{self.within} of {self.judged} runs cost between low and high"
            f" ({percent(self.coverage)}, 80 % is meant), the expected value was off"
            f" by {percent(self.median_error)} in the median"
        )


def score(estimates: Sequence[PastEstimate]) -> Score:
    """Judge past estimates: the last one made for each job counts."""
    judged = [one for one in _last_of_job(estimates) if _is_judged(one)]
    errors = sorted(_error(one) for one in judged)
    return Score(
        judged=len(judged),
        waiting=len({one.job for one in estimates if one.job and one.actual is None}),
        within=sum(1 for one in judged if _is_within(one)),
        median_error=quantile(errors, Fraction(1, 2)) if errors else None,
    )


def calibrated(
    request: EstimateRequest, past: Sequence[PastEstimate]
) -> Overheads | None:
    """Return factors out of finished runs that are alike; None when too few are."""
    alike = [
        one for one in _last_of_job(past) if _is_judged(one) and _like(request, one)
    ]
    if len(alike) < ENOUGH or request.is_time_limit:
        return None
    ratios = sorted(Fraction(_cost(one).nanos, one.base.nanos) for one in alike)
    low, middle, high = (
        round_ratio(quantile(ratios, Fraction(share, 10))) for share in (1, 5, 9)
    )
    names = ", ".join(one.job for one in alike[:_NAMED])
    left = f" and {len(alike) - _NAMED} more" if len(alike) > _NAMED else ""
    return Overheads(
        idle_low=low,
        idle_expected=middle,
        idle_high=max(high, middle),
        spot_risk=Fraction(1),
        idle_basis=f"P50 of {len(alike)} finished runs like it ({names}{left})",
        is_calibrated=True,
        name="as past runs went",
    )


def quantile(ordered: Sequence[Fraction], share: Fraction) -> Fraction:
    """Return a quantile of sorted values, in a straight line between neighbours.

    >>> quantile([Fraction(1), Fraction(3)], Fraction(1, 2))
    Fraction(2, 1)
    """
    place = share * (len(ordered) - 1)
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def round_ratio(ratio: Fraction) -> Fraction:
    """Keep four digits of a ratio: more would claim what no history knows."""
    return Fraction(round(ratio * 10_000), 10_000)


def percent(share: Fraction) -> str:
    """Return a share for people.

    >>> percent(Fraction(7, 9))
    '78 %'
    """
    return f"{round(share * 100)} %"


def _cost(one: PastEstimate) -> Money:
    assert one.actual is not None  # judged ones only
    return one.actual


def _is_judged(one: PastEstimate) -> bool:
    return one.actual is not None and one.actual.nanos > 0 and one.base.nanos > 0


def _is_within(one: PastEstimate) -> bool:
    return one.low <= _cost(one) <= one.high


def _error(one: PastEstimate) -> Fraction:
    real = _cost(one).nanos
    return abs(Fraction(one.expected.nanos - real, real))


def _last_of_job(estimates: Sequence[PastEstimate]) -> list[PastEstimate]:
    """Return the last estimate of each job, the newest first."""
    last: dict[str, PastEstimate] = {}
    for one in sorted(estimates, key=lambda one: (one.made_at, one.estimate_id)):
        if one.job:
            last[one.job] = one
    return sorted(
        last.values(), key=lambda one: (one.made_at, one.estimate_id), reverse=True
    )


def _like(request: EstimateRequest, one: PastEstimate) -> bool:
    """Tell whether a past run says anything of a planned one."""
    is_spot = Purchase.SPOT in {request.purchase, one.purchase}
    return (
        family_of(one.instance_type) == family_of(request.instance_type)
        and (not is_spot or one.purchase is request.purchase)
        and request.count <= one.count * ALIKE_COUNT
        and one.count <= request.count * ALIKE_COUNT
    )
