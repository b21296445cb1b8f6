"""Days that cost far more than days like it did: robust, seasonal, above a floor.

A day is compared with the median of the 28 days before it, each brought to the same
weekday, and with how far those days usually lie from it (MAD): one wild day moves
neither. A fee that was paid at once for a longer time is no anomaly. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from statistics import median

from billing.core.money import Money
from billing.core.periods import DAY

#: Days a day is compared with, and how many of them must be there.
LOOKBACK = 28
HISTORY_LEAST = 14
#: Robust standard deviations above the median that are out of the ordinary.
DEVIATIONS = Fraction(4)
#: A MAD is this much of a standard deviation of a normal distribution.
_SCALE = Fraction(14826, 10000)
#: No series is taken to be steadier than this share of its median.
_STEADY = Fraction(5, 100)
#: Anomalies below this are nobody's business.
FLOOR = Money.of("100")
_WEEK = 7
#: A weekday differs from the others only when its level does by this much.
_CLEAR = Fraction(2, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """When a day stands out.

    Attributes:
        floor: Dollars over the usual that are worth a word.
        deviations: Robust standard deviations over the usual.
    """

    floor: Money = FLOOR
    deviations: Fraction = DEVIATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One job's part in an anomaly; ``usual`` is 0 for a job that is new."""

    key: str
    cost: Money
    usual: Money


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """One day of one series that stands out.

    Attributes:
        series: Such as ``team research`` or ``account 012345678901``.
        usual: What the day was expected to cost.
        excess: How much more it did.
        deviations: How many robust standard deviations that is.
        causes: What grew most, the largest first.
        is_open: The day may still move.
    """

    series: str
    day: date
    cost: Money
    usual: Money
    excess: Money
    deviations: Fraction
    causes: tuple[Cause, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A day that stands out only for what was bought on it.

    Attributes:
        paid: Fees of commitments and reserved capacity in the day's cost.
    """

    series: str
    day: date
    cost: Money
    paid: Money


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was found in one series."""

    anomalies: tuple[Anomaly, ...] = ()
    explained: tuple[Explained, ...] = ()
    judged_days: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """One series to be judged.

    Attributes:
        days: Effective cost by day; absent days between cost nothing.
        purchases: Fees among them, by day.
        open_days: Days that may still move.
        since: First day that costs are known of; None: the first one that is there.
    """

    name: str
    days: Mapping[date, Money]
    purchases: Mapping[date, Money] = field(default_factory=dict)
    open_days: frozenset[date] = frozenset()
    since: date | None = None


def judge(
    series: Watched, since: date, until: date, rules: Rules | None = None
) -> Judged:
    """Judge the days of ``[since, until)``; too little history judges none."""
    wanted = rules or Rules()
    clean = {
        day: cost - series.purchases.get(day, Money.zero(cost.currency))
        for day, cost in series.days.items()
    }
    anomalies: list[Anomaly] = []
    explained: list[Explained] = []
    judged = 0
    for day in (since + n * DAY for n in range((until - since).days)):
        usual = _usual(clean, day, series.since)
        if usual is None or day not in series.days:
            continue
        judged += 1
        found = _stands_out(series, day, clean[day], usual, wanted)
        if found is not None:
            anomalies.append(found)
        elif _stands_out(series, day, series.days[day], usual, wanted) is not None:
            explained.append(
                Explained(
                    series=series.name, day=day, cost=series.days[day],
                    paid=series.purchases[day],
                )
            )  # fmt: skip
    return Judged(
        anomalies=tuple(anomalies), explained=tuple(explained), judged_days=judged
    )


def suspicious(
    series: Watched, since: date, until: date, rules: Rules | None = None
) -> tuple[date, ...]:
    """Return the days that stand out before anybody asked what was bought on them."""
    return tuple(one.day for one in judge(series, since, until, rules).anomalies)


def causes(
    by_key: Mapping[str, Mapping[date, Money]], day: date, *, most: int = 3
) -> tuple[Cause, ...]:
    """Return what grew most on a day against its own median of the days before."""
    grown = []
    for key, days in by_key.items():
        cost = days.get(day)
        if cost is None:
            continue
        before = [
            days[one].nanos if one in days else 0
            for one in (day - n * DAY for n in range(1, LOOKBACK + 1))
        ]
        usual = Money(round(median(before)), cost.currency)
        if usual < cost:
            grown.append(Cause(key=key, cost=cost, usual=usual))
    grown.sort(key=lambda one: ((one.usual - one.cost).nanos, one.key))
    return tuple(grown[:most])


def _stands_out(
    series: Watched,
    day: date,
    cost: Money,
    usual: tuple[Fraction, Fraction],
    rules: Rules,
) -> Anomaly | None:
    middle, spread = usual
    excess = Money(round(cost.nanos - middle), cost.currency)
    far = (cost.nanos - middle) / spread if spread else None
    if excess < rules.floor or (far is not None and far < rules.deviations):
        return None
    return Anomaly(
        series=series.name,
        day=day,
        cost=cost,
        usual=Money(round(middle), cost.currency),
        excess=excess,
        deviations=far if far is not None else rules.deviations,
        is_open=day in series.open_days,
    )


def _usual(
    days: Mapping[date, Money], day: date, since: date | None
) -> tuple[Fraction, Fraction] | None:
    """Return what a day should cost and how far days usually lie from that."""
    first = since or min(days, default=day)
    before = [
        one
        for one in (day - timedelta(days=n) for n in range(1, LOOKBACK + 1))
        if one >= first
    ]
    if len(before) < HISTORY_LEAST:
        return None
    values = [(one, days[one].nanos if one in days else 0) for one in before]
    factors = _weekday_factors(values)
    mine = factors[day.weekday()]
    levelled = [cost * mine / factors[one.weekday()] for one, cost in values]
    middle = Fraction(median(levelled))
    mad = Fraction(median(abs(cost - middle) for cost in levelled))
    return middle, max(mad * _SCALE, abs(middle) * _STEADY)


def _weekday_factors(values: Sequence[tuple[date, int]]) -> list[Fraction]:
    """Return how each weekday compares with the whole; 1 where that cannot be said."""
    whole = Fraction(median(cost for _, cost in values))
    factors = []
    for weekday in range(_WEEK):
        same = [cost for day, cost in values if day.weekday() == weekday]
        level = Fraction(median(same)) if same else whole
        factor = level / whole if whole > 0 and level > 0 else Fraction(1)
        # Four days of noise look like a small season; only a clear one counts.
        factors.append(factor if abs(factor - 1) >= _CLEAR else Fraction(1))
    return factors
