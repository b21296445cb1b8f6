"""What a run's money bought: cost per unit of work, per busy GPU hour, and scaling.

Whatever cannot be known is None with the reason beside it; a rate over nothing is never
a number. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from billing.core.money import Money, round_half_even
from billing.core.periods import HOUR
from billing.core.progress import Counter, Progress

#: What a price is told for: one step, a thousand samples, a million tokens.
UNITS: Mapping[Counter, int] = {
    Counter.STEPS: 1,
    Counter.SAMPLES: 1_000,
    Counter.TOKENS: 1_000_000,
}
#: A mean over less of the GPU hours than this is not told as the run's.
COVERAGE_LEAST = Fraction(1, 2)
#: Counters in the order in which runs are compared: batches differ, tokens do not.
COMPARED = (Counter.TOKENS, Counter.SAMPLES, Counter.STEPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one counter says, and what it cost.

    Attributes:
        per_unit: Cost of `UNITS` of it; None with ``missing``.
        is_at_most: The counter was not reported from its start, so each cost less.
        per_gpu_hour: Work of one GPU in one hour while it was reported.
        gpus: Held at a time, on average, while it was reported.
    """

    progress: Progress
    per_unit: Money | None
    missing: str = ""
    is_at_most: bool = False
    per_gpu_hour: Fraction | None = None
    gpus: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What is known of a run.

    Attributes:
        total: What it cost; the known part when ``is_at_least``.
        compute: The part of it that bought compute.
        gpu_hours: Held by it; None when a type or a time is unknown.
        busy_gpu_hours / measured_gpu_hours: GPU hours times utilisation, over those
            that were measured.
        reported_gpu_hours: GPU hours while each counter was reported.
    """

    job: str
    total: Money
    is_at_least: bool
    compute: Money
    gpu_hours: Fraction | None
    measured_gpu_hours: Fraction
    busy_gpu_hours: Fraction
    progress: Mapping[Counter, Progress] = field(default_factory=dict)
    reported_gpu_hours: Mapping[Counter, Fraction] = field(default_factory=dict)
    accelerators: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """How well a run used what it cost.

    Attributes:
        per_gpu_hour: Compute of one GPU for an hour, at what was paid.
        utilization_pct: Mean of the measured GPU hours; None with ``missing``.
        measured_pct: Share of the GPU hours that was measured.
        effective_gpu_hour: Compute of one GPU hour at 100 % utilisation.
    """

    facts: RunFacts
    per_gpu_hour: Money | None
    utilization_pct: Fraction | None
    measured_pct: Fraction | None
    effective_gpu_hour: Money | None
    missing: str
    work: Mapping[Counter, Work]


def efficiency(facts: RunFacts) -> Efficiency:
    """Work out how well a run used what it cost."""
    per_hour = _per(facts.compute, facts.gpu_hours)
    share, missing = _measured(facts)
    used = None
    if not missing and facts.measured_gpu_hours:
        used = facts.busy_gpu_hours / facts.measured_gpu_hours
    return Efficiency(
        facts=facts,
        per_gpu_hour=per_hour,
        utilization_pct=None if used is None else used * 100,
        measured_pct=None if share is None else share * 100,
        effective_gpu_hour=_per(per_hour, used) if per_hour is not None else None,
        missing=missing,
        work={
            counter: _work(facts, counter, found)
            for counter, found in facts.progress.items()
        },
    )


def _per(amount: Money, units: Fraction | None) -> Money | None:
    """Return an amount per unit; None when there is no unit, or nobody knows."""
    if units is None or units <= 0:
        return None
    return Money(round_half_even(amount.nanos / units), amount.currency)


def _measured(facts: RunFacts) -> tuple[Fraction | None, str]:
    """Return the measured share of the GPU hours, and why no mean is told."""
    if facts.gpu_hours is None:
        return None, "how many GPU hours it held is not known"
    if not facts.gpu_hours:
        return None, "it held no GPU in this time"
    share = min(facts.measured_gpu_hours / facts.gpu_hours, Fraction(1))
    if share < COVERAGE_LEAST:
        return share, _too_few(share)
    return share, ""


def _too_few(share: Fraction) -> str:
    if not share:
        return "GPU utilisation was not measured"
    percent = max(round(share * 100), 1)
    return f"GPU utilisation was measured for {percent} % of its GPU hours, too few to tell"


def _work(facts: RunFacts, counter: Counter, found: Progress) -> Work:
    hours = facts.reported_gpu_hours.get(counter, Fraction(0))
    is_rated = bool(hours and found.seen_time)
    is_late = found.begins_at > 0
    if not found.useful:
        return Work(progress=found, per_unit=None, missing="it made no progress yet")
    if is_late and facts.is_at_least:
        missing = (
            "it was reported from the middle on, and a part of the cost is unknown"
        )
        return Work(progress=found, per_unit=None, missing=missing)
    units = Fraction(found.useful, UNITS[counter])
    return Work(
        progress=found,
        per_unit=_per(facts.total, units),
        is_at_most=is_late,
        per_gpu_hour=found.seen / hours if is_rated else None,
        gpus=hours / Fraction(found.seen_time / HOUR) if is_rated else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """How the work of a GPU hour in one run compares with another's.

    Attributes:
        efficiency_pct: Work per GPU hour of the second, in percent of the first.
    """

    counter: Counter
    first: Work
    second: Work
    efficiency_pct: Fraction


def scaling(first: Efficiency, second: Efficiency) -> tuple[Scaling | None, str]:
    """Compare two runs by the best counter that both report; else say what is missing."""
    for counter in COMPARED:
        one, other = first.work.get(counter), second.work.get(counter)
        if one is None or other is None:
            continue
        if not one.per_gpu_hour or other.per_gpu_hour is None:
            continue
        if first.facts.accelerators != second.facts.accelerators:
            return None, "they ran on different accelerators"
        ratio = other.per_gpu_hour / one.per_gpu_hour
        found = Scaling(
            counter=counter, first=one, second=other, efficiency_pct=ratio * 100
        )
        return found, ""
    return None, "both must report the same counter while the inventory watches"
