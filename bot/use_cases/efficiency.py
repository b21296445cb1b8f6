"""Answer how well a run used what it cost: GPU hours held, measured and reported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from fractions import Fraction

from billing.core.categories import running_type_of
from billing.core.charges import CostCategory
from billing.core.efficiency import Efficiency, RunFacts, efficiency
from billing.core.gpus import accelerators, gpu_count
from billing.core.leak_time import pieces
from billing.core.money import Money
from billing.core.periods import HOUR, Period, day_of, start_of
from billing.core.progress import Progress
from bot.use_cases.run_read import Held, RunRead

_Day = tuple[str, date]


def run_efficiency(read: RunRead) -> Efficiency:
    """Work out how well a run used what it cost."""
    return efficiency(run_facts(read))


def run_facts(read: RunRead) -> RunFacts:
    """Put together what the efficiency of a run depends on."""
    measured, busy = _measured(read)
    counted = [part for part in read.parts if not part.is_credit]
    compute = [part for part in counted if part.key == CostCategory.COMPUTE.value]
    models = (accelerators(one.interval.shape) for one in read.held)
    return RunFacts(
        job=read.job,
        total=_sum((part.amount for part in counted), read.currency),
        is_at_least=bool(read.gathered.accrued.unknown),
        compute=_sum((part.amount for part in compute), read.currency),
        gpu_hours=_gpu_hours(read),
        measured_gpu_hours=measured,
        busy_gpu_hours=busy,
        progress=read.progress,
        reported_gpu_hours={
            counter: hours
            for counter, found in read.progress.items()
            if (hours := _reported(read.held, found)) is not None
        },
        accelerators=frozenset(one.model for one in models if one is not None),
    )


def _sum(amounts: Iterable[Money], currency: str) -> Money:
    return Money(sum(one.nanos for one in amounts), currency)


def _hours(period: Period) -> Fraction:
    return Fraction(period.duration / HOUR)


def _gpu_hours(read: RunRead) -> Fraction | None:
    """Return the GPU hours held; before the inventory began, what the bill tells more.

    None when the accelerators of a type are not known.
    """
    seen: dict[_Day, Fraction] = defaultdict(Fraction)
    for one in read.held:
        gpus = gpu_count(one.interval.shape)
        if gpus is None:
            continue  # A machine without accelerators holds none.
        for day, hours in _by_day(one.period):
            seen[(one.interval.account, day)] += hours * gpus * one.share
    billed = _billed(read)
    if billed is None:
        return None
    return sum(
        (max(seen[key], billed.get(key, Fraction(0))) for key in {*seen, *billed}),
        Fraction(0),
    )


def _by_day(period: Period) -> Iterable[tuple[date, Fraction]]:
    start = period.start
    while start < period.end:
        end = min(start_of(day_of(start)) + 24 * HOUR, period.end)
        yield day_of(start), _hours(Period(start, end))
        start = end


def _billed(read: RunRead) -> Mapping[_Day, Fraction] | None:
    """Return GPU hours of days that the inventory did not watch from their start."""
    hours: dict[_Day, Fraction] = defaultdict(Fraction)
    for one in read.sums:
        began = read.watched_since.get(one.account)
        gpus = gpu_count(running_type_of(one.usage_type))
        if gpus is None or (began is not None and began <= start_of(one.day)):
            continue
        if one.quantity is None:
            return None
        hours[(one.account, one.day)] += Fraction(one.quantity) * gpus
    return hours


def _measured(read: RunRead) -> tuple[Fraction, Fraction]:
    """Return the GPU hours that were measured, and those times their utilisation."""
    known = {(one.resource_id, one.hour): one for one in read.use}
    measured = busy = Fraction(0)
    for one in read.held:
        gpus = gpu_count(one.interval.shape)
        if gpus is None:
            continue
        for piece in pieces(one.period):
            hour = piece.start.replace(minute=0, second=0, microsecond=0)
            found = known.get((one.interval.resource_id, hour))
            if found is None:
                continue
            covered = (
                min(Fraction(found.covered_s, 3600), _hours(piece)) * gpus * one.share
            )
            measured += covered
            busy += covered * Fraction(round(found.gpu_pct * 1000), 100_000)
    return measured, busy


def _reported(held: Sequence[Held], found: Progress) -> Fraction | None:
    """Return the GPU hours held while a counter was reported; None when it was not."""
    spans = _without(Period(found.first_at, found.last_at), found.gaps)
    hours = Fraction(0)
    for one in held:
        gpus = gpu_count(one.interval.shape)
        if gpus is None:
            continue
        for span in spans:
            part = span.overlap(one.period)
            hours += _hours(part) * gpus * one.share if part else Fraction(0)
    return hours or None


def _without(period: Period, gaps: Sequence[Period]) -> list[Period]:
    """Return what is left of a period without gaps, which come in order."""
    found, start = [], period.start
    for gap in gaps:
        if start < gap.start:
            found.append(Period(start, gap.start))
        start = max(start, gap.end)
    if start < period.end:
        found.append(Period(start, period.end))
    return found
