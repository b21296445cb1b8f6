"""Days that stand out, and days that only seem to."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

import pytest

from billing.core.anomalies import (
    Judged,
    Rules,
    Watched,
    causes,
    judge,
    suspicious,
)
from billing.core.money import USD, Money
from tests.builders import usd

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = date(2026, 11, 25)
UNTIL = DAY + timedelta(days=1)


def series(
    cost: Callable[[date], float], *, days: int = 60, **odd: float
) -> dict[date, Money]:
    """Return days up to the judged one; ``n25=…`` sets what the 25th cost."""
    found = {
        day: Money(round(cost(day) * 10**9), USD)
        for day in (DAY - timedelta(days=n) for n in range(days))
    }
    for name, amount in odd.items():
        found[date(2026, 11, int(name[1:]))] = Money(round(amount * 10**9), USD)
    return found


def judged(days: dict[date, Money], **fields: object) -> Judged:
    watched = Watched(name="team research", days=days, **fields)  # type: ignore[arg-type]
    return judge(watched, DAY, UNTIL)


def noisy(day: date) -> float:
    return 1000 + Random(day.toordinal()).uniform(-80, 80)


def test_a_day_far_above_the_usual_is_told_with_its_excess() -> None:
    (found,) = judged(series(lambda _: 1000, n25=5000)).anomalies

    assert (found.day, found.cost, found.usual) == (DAY, usd("5000"), usd("1000"))
    assert found.excess == usd("4000")
    assert found.deviations > 4


def test_an_ordinary_noisy_day_is_not() -> None:
    days = series(noisy)
    watched = Watched(name="x", days=days)

    found = judge(watched, DAY - timedelta(days=20), UNTIL)

    assert found.anomalies == ()
    assert found.judged_days == 21


def test_one_wild_day_does_not_hide_the_next_one() -> None:
    days = series(noisy, n20=60_000, n25=5000)

    assert [one.day for one in judged(days).anomalies] == [DAY]


def test_a_busy_weekday_is_compared_with_its_own_kind() -> None:
    # Every Wednesday a long evaluation runs; the 25th is one.
    days = series(lambda day: 3000 if day.weekday() == 2 else 1000)

    assert judged(days).anomalies == ()


def test_a_weekend_at_working_day_cost_stands_out() -> None:
    days = series(lambda day: 100 if day.weekday() >= 5 else 3000, n22=3000)
    watched = Watched(name="x", days=days)

    found = judge(watched, date(2026, 11, 21), date(2026, 11, 23))

    assert [one.day for one in found.anomalies] == [date(2026, 11, 22)]


@pytest.mark.parametrize(
    ("cost", "count"), [(109.99, 0), (110.0, 1)], ids=["just-under", "at-floor"]
)
def test_what_is_below_the_floor_is_nobodys_business(cost: float, count: int) -> None:
    days = series(lambda _: 10, n25=cost)

    assert len(judged(days).anomalies) == count


def test_a_floor_can_be_set() -> None:
    watched = Watched(name="x", days=series(lambda _: 10, n25=60))

    found = judge(watched, DAY, UNTIL, Rules(floor=usd("50")))

    assert len(found.anomalies) == 1


def test_a_fee_of_one_day_is_explained_and_no_anomaly() -> None:
    days = series(noisy, n25=noisy(DAY) + 30_000)

    found = judged(days, purchases={DAY: usd("30000")})

    assert found.anomalies == ()
    (told,) = found.explained
    assert (told.day, told.paid) == (DAY, usd("30000"))


def test_a_fee_does_not_hide_what_else_happened_that_day() -> None:
    days = series(noisy, n25=noisy(DAY) + 38_000)

    (found,) = judged(days, purchases={DAY: usd("30000")}).anomalies

    assert usd("7800") < found.excess < usd("8200")


def test_fees_at_each_start_of_a_month_are_not_anomalies() -> None:
    first = date(2026, 11, 1)
    days = series(lambda day: 6000 if day.day == 1 else 1000)
    fees = {day: usd("5000") for day in days if day.day == 1}
    watched = Watched(name="x", days=days, purchases=fees)

    found = judge(watched, first, first + timedelta(days=1))

    assert found.anomalies == ()
    assert [one.day for one in found.explained] == [first]


def test_a_short_history_judges_nothing_rather_than_everything() -> None:
    found = judged(series(lambda _: 10, days=14, n25=9000))

    assert (found.anomalies, found.judged_days) == ((), 0)


def test_spend_where_there_was_none_stands_out() -> None:
    days = series(lambda _: 0, n25=900)

    (found,) = judged(days).anomalies

    assert found.usual == usd("0")
    assert found.excess == usd("900")


def test_cheap_days_are_no_anomalies() -> None:
    assert judged(series(lambda _: 5000, n25=1)).anomalies == ()


def test_days_may_be_suspected_before_fees_are_known() -> None:
    days = series(noisy, n25=31_000)

    assert suspicious(Watched(name="x", days=days), DAY, UNTIL) == (DAY,)


def test_what_grew_most_is_named_first_and_new_jobs_have_no_usual_cost() -> None:
    by_key = {
        "steady": series(lambda _: 500),
        "grown": series(lambda _: 100, n25=900),
        "new": {DAY: usd("4000")},
        "gone": series(lambda _: 100, n25=0),
    }

    found = causes(by_key, DAY)

    assert [(one.key, str(one.cost), str(one.usual)) for one in found] == [
        ("new", "$4,000.00", "$0.00"),
        ("grown", "$900.00", "$100.00"),
    ]


def test_planted_anomalies_are_found_and_few_others() -> None:
    """On 40 series of a year's noise: planted days are found, ordinary ones are not."""
    random = Random(7)
    found = planted = false = days_judged = 0
    for number in range(40):
        level = random.uniform(500, 20_000)
        weekend = random.uniform(0.4, 1.0)
        days = {
            DAY - timedelta(days=n): level
            * (weekend if (DAY - timedelta(days=n)).weekday() >= 5 else 1)
            * random.lognormvariate(0, 0.12)
            for n in range(70)
        }
        odd = DAY - timedelta(days=random.randrange(30))
        days[odd] *= 2.5
        money = {day: Money(round(cost * 10**9), USD) for day, cost in days.items()}
        watched = Watched(name=str(number), days=money)
        told = judge(watched, DAY - timedelta(days=30), UNTIL)
        hits = {one.day for one in told.anomalies}
        planted += 1
        found += odd in hits
        false += len(hits - {odd})
        days_judged += told.judged_days
    assert Fraction(found, planted) >= Fraction(95, 100)
    assert Fraction(false, days_judged) <= Fraction(1, 100)
