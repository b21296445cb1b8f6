"""A price over time: which rate held when. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta

from billing.core.money import Rate
from billing.core.periods import start_of
from billing.core.prices import Price

_EPOCH = start_of(date(1970, 1, 1))
_MICROSECOND = timedelta(microseconds=1)


def rates_of(
    series: Iterable[tuple[int, Rate]], start: int, end: int
) -> Iterator[tuple[int, int, int, Rate | None]]:
    """Yield ``(since when the price holds, start, end, rate)``; None is unknown."""
    base, rate, since = start, None, start
    for held_from, next_rate in series:
        if held_from > since:
            until = min(held_from, end)
            yield base, since, until, rate
            since = until
        if since >= end:
            return
        base, rate = held_from, next_rate
    yield base, since, end, rate


def price_series(prices: Iterable[Price]) -> list[tuple[int, Rate]]:
    """Order prices by when they begin (microseconds since 1970) without zeros.

    A price without a beginning always held; of two with one beginning the newer counts.
    """
    chosen: dict[int, Price] = {}
    for price in prices:
        held_from = 0 if price.effective_from is None else _micros(price.effective_from)
        before = chosen.get(held_from)
        if price.rate.nanos > 0 and (before is None or before.as_of <= price.as_of):
            chosen[held_from] = price
    return [(held_from, chosen[held_from].rate) for held_from in sorted(chosen)]


def rate_at(prices: Iterable[Price], instant: datetime) -> Rate | None:
    """Return the rate that holds at an instant; None when none is known."""
    found = None
    for held_from, rate in price_series(prices):
        if held_from <= _micros(instant):
            found = rate
    return found


def _micros(instant: datetime) -> int:
    return (instant - _EPOCH) // _MICROSECOND
