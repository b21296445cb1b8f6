"""The end of a month: continued from the past, with an interval that was tried."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.core.forecast_month import HISTORY_LEAST, forecast_month
from billing.core.money import USD, Money
from billing.core.periods import start_of
from tests.builders import at, usd

if TYPE_CHECKING:
    from collections.abc import Callable

    from billing.core.forecast_month import MonthForecast

TODAY = date(2026, 11, 21)


def told(
    cost: Callable[[date], float], *, days: int = 80, known: str = "2026-11-21T00:00Z"
) -> MonthForecast:
    """Forecast November out of so many days whose cost is a function of the day."""
    series = {
        day: Money(round(cost(day) * 10**9), USD)
        for day in (TODAY - timedelta(days=n) for n in range(1, days + 1))
    }
    return forecast_month(series, at(known), currency=USD)


def test_a_steady_series_goes_on_as_it_was() -> None:
    found = told(lambda _: 100)

    assert found.so_far == usd("2000")
    assert (found.low, found.expected, found.high) == (usd("3000"),) * 3
    assert found.backtest.coverage == 1
    assert found.backtest.median_error == 0


def test_weekends_are_told_from_working_days() -> None:
    found = told(lambda day: 10 if day.weekday() >= 5 else 100)

    # 2026-11-21 is a Saturday: of the last ten days four are at a weekend.
    assert found.method == "the median of the same weekday in 4 weeks"
    assert found.expected == found.so_far + usd("640")


def test_the_part_of_today_that_is_over_is_not_forecast_again() -> None:
    half = {TODAY - timedelta(days=n): usd("100") for n in range(1, 60)} | {
        TODAY: usd("50")
    }

    found = forecast_month(half, at("2026-11-21T12:00Z"), currency=USD)

    assert found.so_far == usd("2050")
    assert found.expected == usd("3000")


def test_a_recent_change_of_level_counts() -> None:
    found = told(lambda day: 500 if day >= date(2026, 11, 10) else 100)

    assert found.expected is not None
    assert found.expected >= found.so_far + usd("4500")
    assert found.method == "the mean of the last 7 days"


def test_too_little_history_says_so_rather_than_guess() -> None:
    found = told(lambda _: 100, days=HISTORY_LEAST - 1)

    assert (found.low, found.expected, found.high) == (None, None, None)
    assert found.so_far == usd("1300")


def test_too_few_trials_give_no_interval() -> None:
    found = told(lambda _: 100, days=HISTORY_LEAST + 12)

    assert found.expected == usd("3000")
    assert (found.low, found.high) == (None, None)


def test_nothing_known_is_not_a_forecast_of_zero() -> None:
    found = forecast_month({}, at("2026-11-21T00:00Z"), currency=USD)

    assert found.expected is None
    assert found.so_far == usd("0")


def test_a_month_that_is_over_is_what_it_was() -> None:
    days = {date(2026, 10, day): usd("10") for day in range(1, 32)}

    found = forecast_month(days, start_of(date(2026, 11, 1)), currency=USD)

    assert found.month == date(2026, 10, 1)
    assert (found.low, found.expected, found.high) == (usd("310"),) * 3


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_holds_about_what_it_says_on_noisy_series(seed: int) -> None:
    """80 % is meant; over many noisy months it is neither far below nor certain."""
    random = Random(seed)
    held = tried = 0
    for _ in range(60):
        costs = [max(0.0, random.gauss(1000, 200)) for _ in range(90)]
        first = date(2026, 11, 1) - timedelta(days=70)
        days = {
            first + timedelta(days=n): Money(round(cost * 10**9), USD)
            for n, cost in enumerate(costs)
        }
        known = start_of(TODAY)
        found = forecast_month(
            {day: cost for day, cost in days.items() if day < TODAY},
            known,
            currency=USD,
        )
        real = sum(
            cost.nanos
            for day, cost in days.items()
            if date(2026, 11, 1) <= day < date(2026, 12, 1) and day in days
        )
        assert found.low is not None
        assert found.high is not None
        missing = (date(2026, 12, 1) - max(days) - timedelta(days=1)).days
        real += missing * 1000 * 10**9
        tried += 1
        held += found.low.nanos <= real <= found.high.nanos
    assert Fraction(6, 10) <= Fraction(held, tried)


@given(
    st.lists(st.integers(0, 10**13), min_size=1, max_size=70),
    st.integers(1, 24 * 29),
)
def test_a_forecast_is_never_below_what_was_spent(costs: list[int], hours: int) -> None:
    known = at("2026-11-01") + timedelta(hours=hours)
    last = (known - timedelta(microseconds=1)).date()
    days = {last - timedelta(days=n): Money(cost, USD) for n, cost in enumerate(costs)}

    found = forecast_month(days, known, currency=USD)

    if found.expected is not None:
        assert found.so_far <= found.expected
    if found.low is not None and found.high is not None:
        assert found.expected is not None
        assert found.so_far <= found.low <= found.expected <= found.high
