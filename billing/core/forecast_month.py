"""What a month will have cost at its end: a forecast with an interval that was tried.

Three simple ways to continue a daily series compete on the series' own past; the one
that was off least is used, and the interval is as wide as it was off. Floats never
enter: money is whole nano-units. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from statistics import median

from billing.core.estimate_history import percent, quantile
from billing.core.money import Money
from billing.core.periods import DAY, day_of, month_start, next_month, start_of

#: Days of history that a way needs before it may be tried or used.
HISTORY_LEAST = 14
#: Days of history that are looked at.
HISTORY_DAYS = 90
#: Trials that an interval needs.
TRIALS_LEAST = 8
WEEK = 7
_LOW = Fraction(1, 10)
#: Trials that do not overlap, from which on their quantiles are believed.
_ENOUGH_APART = 10
#: How much wider an interval of one such trial is; tried out on series of known kinds.
_CHOSEN = 2

Series = Sequence[int]
#: Known days in order -> nano-units of the day that many days after them (from 0).
Way = Callable[[Series, int], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtest:
    """How the way did on the series' own past.

    Attributes:
        trials: Past days from which as many days as now were forecast.
        judged: Trials whose interval could be made of earlier trials alone.
        covered: Judged ones whose real sum lay in that interval.
        median_error: Median of how far a trial was off, as a share of the real sum.
    """

    trials: int
    judged: int
    covered: int
    median_error: Fraction | None

    @property
    def coverage(self) -> Fraction | None:
        """Return the share that was covered; None when none was judged."""
        return Fraction(self.covered, self.judged) if self.judged else None

    @property
    def text(self) -> str:
        """Say it for a person."""
        if not self.trials:
            return "too little history to try it on"
        error = "" if self.median_error is None else percent(self.median_error)
        off = f", off by {error} in the median" if error else ""
        if self.coverage is None:
            return f"tried on {self.trials} past days{off}"
        return (
            f"tried on {self.trials} past days{off}; the interval held"
            f" {self.covered} of {self.judged} ({percent(self.coverage)}, 80 % is meant)"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthForecast:
    """A month's cost at its end.

    Attributes:
        so_far: What is known of the month, up to ``known_until``.
        expected: None when there is too little history to say.
        low / high: None when there are too few trials for an interval.
        method: How the rest was continued.
    """

    month: date
    known_until: datetime
    so_far: Money
    expected: Money | None
    low: Money | None
    high: Money | None
    method: str
    backtest: Backtest


def forecast_month(
    days: Mapping[date, Money],
    known_until: datetime,
    *,
    currency: str,
    fees: Mapping[date, Money] | None = None,
) -> MonthForecast:
    """Forecast the end of the month that holds the last known instant.

    Args:
        days: Cost by day; a day that is absent up to the last known one cost nothing.
        known_until: Costs are known before this instant.
        currency: Of the amounts.
        fees: What was paid on a day for a longer time: spent, and not to be repeated.
    """
    today = day_of(known_until - timedelta(microseconds=1))
    month = month_start(today)
    spent = Money(
        sum(cost.nanos for day, cost in days.items() if month <= day <= today), currency
    )
    whole = day_of(known_until)
    known = _series(_without(days, fees or {}), whole)
    rest = (start_of(next_month(month)) - known_until) / DAY
    left = Fraction(round(rest * 86_400), 86_400)
    if len(known) < HISTORY_LEAST or left <= 0:
        return _unforecast(month, known_until, spent, is_over=left <= 0)
    horizon = max(1, round(left))
    # Of equals the first one, which follows a change of level soonest.
    name, errors, way = min(
        ((name, _trials(known, way, horizon), way) for name, way in WAYS),
        key=lambda one: sum(abs(error) for error, _ in one[1]),
    )
    # Whole days ahead, then the part of the first one that is over is taken off.
    ahead = -(-left.numerator // left.denominator)
    rest_sum = Fraction(sum(way(known, step) for step in range(ahead)))
    rest_sum -= way(known, 0) * (ahead - left)
    expected = spent + Money(round(rest_sum), currency)
    offs = sorted(Fraction(error) for error, _ in errors)
    low = high = None
    if len(offs) >= TRIALS_LEAST:
        below, above = _ends(offs, horizon)
        low = _at_least(spent, expected + Money(min(0, round(below)), currency))
        high = expected + Money(max(0, round(above)), currency)
    return MonthForecast(
        month=month, known_until=known_until, so_far=spent, expected=expected,
        low=low, high=high, method=name, backtest=_backtest(errors, horizon),
    )  # fmt: skip


def _without(
    days: Mapping[date, Money], fees: Mapping[date, Money]
) -> Mapping[date, Money]:
    return {
        day: cost - fees[day] if day in fees else cost for day, cost in days.items()
    }


def _unforecast(
    month: date, known_until: datetime, spent: Money, *, is_over: bool
) -> MonthForecast:
    end = spent if is_over else None
    return MonthForecast(
        month=month, known_until=known_until, so_far=spent, expected=end, low=end,
        high=end, method="the month is over" if is_over else "too little history",
        backtest=Backtest(trials=0, judged=0, covered=0, median_error=None),
    )  # fmt: skip


def _series(days: Mapping[date, Money], whole: date) -> list[int]:
    """Return the costs of whole days in order, from the first that cost anything."""
    known = [day for day, cost in days.items() if day < whole and cost.nanos]
    if not known:
        return []
    first = max(min(known), whole - timedelta(days=HISTORY_DAYS))
    length = (whole - first).days
    nothing = Money(0, next(iter(days.values())).currency)
    return [days.get(first + n * DAY, nothing).nanos for n in range(length)]


def _last_week(known: Series, _step: int) -> int:
    """Continue with the mean of the last seven days."""
    return sum(known[-WEEK:]) // WEEK


def _weekday(known: Series, step: int) -> int:
    """Continue with the median of the same weekday over up to four weeks."""
    place = step % WEEK
    same = [known[-WEEK * n + place] for n in range(1, 5) if WEEK * n <= len(known)]
    return int(median(same))


def _four_weeks(known: Series, _step: int) -> int:
    """Continue with the mean of the last four weeks."""
    recent = known[-4 * WEEK :]
    return sum(recent) // len(recent)


WAYS: tuple[tuple[str, Way], ...] = (
    ("the mean of the last 7 days", _last_week),
    ("the median of the same weekday in 4 weeks", _weekday),
    ("the mean of the last 28 days", _four_weeks),
)


def _trials(known: Series, way: Way, horizon: int) -> list[tuple[int, int]]:
    """Return real minus forecast, and the real sum, from each past day that allows it."""
    found = []
    for origin in range(HISTORY_LEAST, len(known) - horizon + 1):
        before = known[:origin]
        real = sum(known[origin : origin + horizon])
        told = sum(way(before, step) for step in range(horizon))
        found.append((real - told, real))
    return found


def _backtest(errors: Sequence[tuple[int, int]], horizon: int) -> Backtest:
    """Judge each trial by an interval of the trials that were over when it began."""
    judged = covered = 0
    for number, (error, _) in enumerate(errors):
        earlier = sorted(
            Fraction(one) for one, _ in errors[: max(0, number - horizon + 1)]
        )
        if len(earlier) < TRIALS_LEAST:
            continue
        judged += 1
        below, above = _ends(earlier, horizon)
        covered += min(Fraction(0), below) <= error <= max(Fraction(0), above)
    shares = sorted(abs(Fraction(error, real)) for error, real in errors if real > 0)
    return Backtest(
        trials=len(errors),
        judged=judged,
        covered=covered,
        median_error=quantile(shares, Fraction(1, 2)) if shares else None,
    )


def _ends(offs: Sequence[Fraction], horizon: int) -> tuple[Fraction, Fraction]:
    """Return the ends of an interval that is to hold 80 % of trials.

    Trials that overlap say less than their number, and the way was chosen by them: with
    few that stand apart the ends move out to the widest, and beyond.
    """
    apart = Fraction(len(offs), horizon)
    share = _LOW * min(Fraction(1), apart / _ENOUGH_APART)
    beyond = 1 + _CHOSEN / max(apart, Fraction(1))
    return quantile(offs, share) * beyond, quantile(offs, 1 - share) * beyond


def _at_least(least: Money, amount: Money) -> Money:
    return max(amount, least)
