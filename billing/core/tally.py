"""Sums of accrued cost by cell while intervals are walked; amounts in integers only.

Fleets run many equal machines: what is priced alike and ran for the same time is
computed once, and multiplied. Pure; knows no tag and no period.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from billing.core.exact_time import billed_share, cost_of, days_of, micros
from billing.core.fleet import Lifecycle
from billing.core.holdings import WHOLE, Between, between
from billing.core.money import Rate
from billing.core.price_series import price_series, rates_of
from billing.core.priced import quantities
from billing.core.prices import Price, PriceKey
from billing.core.usage import ResourceKind, UsageInterval

_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1) // _MICROSECOND

Prices = Mapping[PriceKey, Sequence[Price]]
#: From one instant to another.
Part = tuple[datetime, datetime]
#: When an interval began, a part of it, and its billed share.
_Span = tuple[datetime, datetime, datetime, int, int]
Quantities = tuple[tuple[PriceKey, int], ...]
#: What a key costs on a day number, in which currency (None: unknown), and for how long.
_Cost = tuple[PriceKey, int, str | None, int, int]
#: What sums are kept by: job, account, day number, kind of resource,
#: region, shape, lifecycle, currency. Plain tuples hash several times faster.
Cell = tuple[str, str, int, ResourceKind, str, str, Lifecycle, str]


@dataclass(slots=True)
class Alike:
    """Intervals of one holder that are priced alike.

    Attributes:
        one: Any of them.
        parts: The resources by start and part of the interval, and its billed share.
    """

    one: UsageInterval
    found: Quantities
    parts: dict[_Span, list[str]]


class Tally:
    """Sums by cell; amounts in integers only. Equal parts are computed once."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._series: dict[int, tuple[PriceKey, list[tuple[int, Rate]]]] = {}
        self._alike: dict[tuple[str, str, int], Alike] = {}
        self._costs: dict[tuple[int, _Span], tuple[Quantities, list[_Cost]]] = {}
        self.cells: dict[Cell, list[int]] = {}
        self.unknown: dict[tuple[str, PriceKey], set[str]] = {}
        self.free: set[str] = set()

    def add(
        self, interval: UsageInterval, job: str, part: Part, held: Between = WHOLE
    ) -> None:
        """Add one part of an interval that belongs to one job, or a share of it."""
        found = quantities(interval)
        share = (1, 1) if interval.billed_s is None else billed_share(interval)
        span = (interval.started_at, *part, *share)
        if held is not WHOLE:
            self._book_all(
                Alike(interval, found, {span: [interval.resource_id]}), job, held
            )
            return
        # Equal quantities are one object: of one kind, shape, place and lifecycle.
        key = job, interval.account, id(found)
        alike = self._alike.get(key)
        if alike is None:
            alike = self._alike[key] = Alike(interval, found, {})
        resources = alike.parts.get(span)
        if resources is None:
            alike.parts[span] = [interval.resource_id]
        else:
            resources.append(interval.resource_id)

    def _book_all(self, alike: Alike, job: str, held: Between = WHOLE) -> None:
        """Book the cost of intervals that are priced alike."""
        sums: dict[tuple[int, str], list[int]] = {}
        for span, resources in alike.parts.items():
            for key, day, currency, cost, ran in self._costs_of(alike.found, span):
                if currency is None:
                    self.unknown.setdefault((job, key), set()).update(resources)
                    continue
                both = sums.get((day, currency))
                if both is None:
                    both = sums[day, currency] = [0, 0]
                is_whole = held is WHOLE
                both[0] += (cost if is_whole else between(cost, held)) * len(resources)
                both[1] += (ran if is_whole else between(ran, held)) * len(resources)
        for (day, currency), (cost, ran) in sums.items():
            self._book(_cell(alike.one, job, day, currency), cost, ran)

    def _costs_of(self, found: Quantities, span: _Span) -> list[_Cost]:
        """Return what one part of an interval costs by day; equal ones are shared."""
        known = self._costs.get((id(found), span))
        if known is None:  # Keeps the quantities, so their id stays their own.
            known = found, list(self._compute(found, span))
            self._costs[id(found), span] = known
        return known[1]

    def _compute(self, found: Quantities, span: _Span) -> Iterator[_Cost]:
        began, start, end = map(micros, span[:3])
        share, whole = span[3:]
        for number, (key, units) in enumerate(found):
            for base, since, until, rate in self._rates(key, start, end):
                if rate is None:
                    yield key, 0, None, 0, 0
                    continue
                # Running totals begin where the price does, or the interval: never
                # at a bound of the question, so that answers add up exactly.
                origin = max(began, base)
                nanos = rate.nanos * units * share
                before = cost_of(nanos, since - origin, whole)
                for day, first, last in days_of(since, until):
                    after = cost_of(nanos, last - origin, whole)
                    ran = 0 if number else last - first
                    yield key, day, rate.currency, after - before, ran
                    before = after

    def add_minimum(
        self, interval: UsageInterval, job: str, ran: timedelta, minimum: timedelta
    ) -> None:
        """Add what a run shorter than the minimum lacks, on the day of its start."""
        instant = micros(interval.started_at)
        done, least = ran // _MICROSECOND, minimum // _MICROSECOND
        for key, units in quantities(interval):
            ((_, _, _, rate),) = self._rates(key, instant, instant + 1)
            if rate is None:
                self._miss(job, key, interval)
                continue
            nanos = rate.nanos * units
            cell = _cell(interval, job, instant // _DAY, rate.currency)
            self._book(cell, cost_of(nanos, least) - cost_of(nanos, done), least - done)

    def close(self) -> None:
        """Compute what was added; nothing is added after it."""
        for (job, _, _), alike in self._alike.items():
            self._book_all(alike, job)
        self._alike.clear()

    def _book(self, key: Cell, nanos: int, running: int) -> None:
        sums = self.cells.get(key)
        if sums is None:
            sums = self.cells[key] = [0, 0]
        sums[0] += nanos
        sums[1] += running

    def _miss(self, job: str, key: PriceKey, interval: UsageInterval) -> None:
        self.unknown.setdefault((job, key), set()).add(interval.resource_id)

    def _rates(
        self, key: PriceKey, start: int, end: int
    ) -> Iterable[tuple[int, int, int, Rate | None]]:
        """Return ``(since when the price holds, start, end, rate)``; None is unknown."""
        # Equal keys are mostly one object; comparing their fields takes longer.
        known = self._series.get(id(key))
        if known is None:
            known = key, price_series(self._prices.get(key, ()))
            self._series[id(key)] = known  # Keeps the key, so its id stays its own.
        series = known[1]
        if len(series) == 1 and series[0][0] <= start:
            return ((series[0][0], start, end, series[0][1]),)
        return rates_of(series, start, end)


def _cell(interval: UsageInterval, job: str, day: int, currency: str) -> Cell:
    return (
        job,
        interval.account,
        day,
        interval.kind,
        interval.region,
        interval.shape,
        interval.lifecycle,
        currency,
    )
