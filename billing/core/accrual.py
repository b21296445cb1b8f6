"""Provisional cost: running intervals times prices, to the second.

What AWS bills by time is followed: an instance costs at least 60 seconds at each start
(booked where it started), pending time nothing, spot capacity that AWS took back in
its first hour nothing, a volume its size by the hour of a 730-hour month, a training
job the seconds that AWS says are billed. A missing price is named, never zero. Sums are
exact: parts of an interval (days, jobs, windows) always add up to the whole, because
each is the difference of two rounded running totals. Pure; knows no store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from billing.core.attribution import TagKeys, job_spans, normalise_job, split_by_job
from billing.core.charges import CostCategory
from billing.core.claims import Claims
from billing.core.exact_time import billed_share as _billed_share
from billing.core.exact_time import cost_of as _cost
from billing.core.exact_time import days_of as _days
from billing.core.exact_time import micros as _micros
from billing.core.fleet import Lifecycle
from billing.core.holdings import WHOLE, Between, between, shares_of
from billing.core.money import Money, Rate
from billing.core.periods import Period, start_of
from billing.core.price_series import price_series, rates_of
from billing.core.priced import (
    bucket_of,
    category_of,
    missing_reason,
    product_text,
    quantities,
)
from billing.core.prices import Price, PriceKey, Purchase
from billing.core.usage import ResourceKind, TagSpan, UsageInterval

MINIMUM = timedelta(seconds=60)
FREE_WHEN_RECLAIMED_WITHIN = timedelta(hours=1)

_MICROSECOND = timedelta(microseconds=1)
_HOUR = timedelta(hours=1) // _MICROSECOND
_DAY = 24 * _HOUR
_EPOCH_DAY = date(1970, 1, 1)
_EPOCH = start_of(_EPOCH_DAY)

Prices = Mapping[PriceKey, Sequence[Price]]
#: A `CellKey` while sums are made: job, account, day number, kind of resource,
#: region, shape, lifecycle, currency. Plain tuples hash several times faster.
_Cell = tuple[str, str, int, ResourceKind, str, str, Lifecycle, str]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class CellKey:
    """What the amounts of one cell have in common.

    Attributes:
        job: "" is untagged; ``bucket:…`` where no tag decides.
    """

    job: str
    account: str
    day: date
    cost_category: CostCategory
    region: str
    shape: str
    lifecycle: Lifecycle
    currency: str
    kind: ResourceKind = ResourceKind.INSTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class AccruedCell:
    """Accrued cost of one key.

    Attributes:
        running: Time of all resources of the cell, one after the other.
    """

    key: CellKey
    amount: Money
    running: timedelta


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Unpriced:
    """Running time that no price is known for.

    Attributes:
        resources: How many resources it concerns.
    """

    job: str
    product: str
    region: str
    purchase: Purchase
    reason: str
    resources: int

    @property
    def text(self) -> str:
        """Return it for a person: ``p5e.48xlarge spot in us-east-1 (…)``."""
        what = f"{product_text(self.product, self.purchase)} in {self.region}"
        return f"{what} ({self.reason}; resources: {self.resources})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Accrued:
    """Everything accrued in a period, sorted by key.

    Attributes:
        unknown: What could not be priced; its cost is in no cell.
        free: Ids of spot instances that AWS took back in their first hour.
    """

    cells: tuple[AccruedCell, ...] = ()
    unknown: tuple[Unpriced, ...] = ()
    free: tuple[str, ...] = ()


def billed_end(interval: UsageInterval, now: datetime) -> datetime:
    """Return the end of the time that costs, without the 60-second minimum."""
    end = interval.ended_at if interval.ended_at is not None else now
    return max(end, interval.started_at)


def accrue(
    intervals: Iterable[UsageInterval],
    tags: Iterable[TagSpan],
    prices: Prices,
    period: Period,
    *,
    now: datetime,
    keys: TagKeys,
    billed_through: Mapping[str, datetime] | None = None,
    claims: Claims | None = None,
) -> Accrued:
    """Accrue the cost of intervals within a period, by job, day and shape.

    Args:
        intervals: May reach out of the period on both sides.
        tags: History of the intervals' resources and of their parents.
        prices: For each key its prices over time (a series for spot); no zeros.
        period: What is asked for.
        now: Running intervals count up to it.
        keys: Which tags name the job.
        billed_through: Per account, the instant before which nothing is provisional.
        claims: Who may hold what beside job tags; None: those say it all.
    """
    holders = _Holders(tags, keys)
    tally = _Tally(prices)
    through = billed_through or {}
    for interval in intervals:
        since = max(through.get(interval.account, _EPOCH), period.start)
        end = billed_end(interval, now)
        start, until = max(interval.started_at, since), min(end, period.end)
        if is_free(interval):
            if start < until:
                tally.free.add(interval.resource_id)
            continue
        if start < until:
            _add(tally, interval, Period(start, until), holders, claims)
        ran = end - interval.started_at
        is_start = since <= interval.started_at < period.end
        has_minimum = ran < MINIMUM and interval.kind is ResourceKind.INSTANCE
        if has_minimum and is_start and interval.started_at <= now:
            _book_minimum(tally, interval, holders, claims, ran=ran)
    return tally.accrued()


def _add(
    tally: _Tally,
    interval: UsageInterval,
    period: Period,
    holders: _Holders,
    claims: Claims | None,
) -> None:
    is_bound = bucket_of(interval.kind) != ""
    if claims is not None and not is_bound and claims.concern(interval):
        for key, part, held in shares_of(interval, period, claims):
            tally.add(interval, key, part, held)
        return
    for job, part in holders.of(interval, period):
        tally.add(interval, job, part)


def is_free(interval: UsageInterval) -> bool:
    """Tell whether AWS does not charge it: spot taken back in its first hour."""
    return (
        interval.lifecycle is Lifecycle.SPOT
        and interval.is_reclaimed is True
        and interval.ended_at is not None
        and interval.ended_at - interval.started_at < FREE_WHEN_RECLAIMED_WITHIN
    )


class _Holders:
    """Which job each resource worked for when, by its tags and those of its parent."""

    def __init__(self, tags: Iterable[TagSpan], keys: TagKeys) -> None:
        self._keys = keys
        self._spans: dict[str, list[TagSpan]] = {}
        for span in tags:
            self._spans.setdefault(span.resource_id, []).append(span)
        self._named: dict[str, list[TagSpan]] = {}

    def of(self, interval: UsageInterval, part: Period) -> list[tuple[str, Period]]:
        """Split a part of an interval at every change of its job."""
        if bucket := bucket_of(interval.kind):
            return [(bucket, part)]
        resource, parent = interval.resource_id, interval.parent_id
        spans = self._names(resource) or self._names(parent)
        if not spans:
            return [("", part)]
        if len(spans) == 1:  # One tag all the time: the usual case.
            span, end = spans[0], spans[0].valid_to
            if span.valid_from <= part.start and (end is None or part.end <= end):
                return [(normalise_job(span.value), part)]
        own = self._spans.get(resource, [])
        inherited = self._spans.get(parent, []) if parent else []
        return split_by_job(part, own, self._keys, parent=inherited)

    def _names(self, resource: str) -> list[TagSpan]:
        """Return the tags of a resource that ever named a job."""
        found = self._named.get(resource)
        if found is None:
            found = job_spans(self._spans.get(resource, ()), self._keys.job)
            self._named[resource] = found
        return found


def _book_minimum(
    tally: _Tally,
    interval: UsageInterval,
    holders: _Holders,
    claims: Claims | None,
    *,
    ran: timedelta,
) -> None:
    """Book what a run shorter than the minimum lacks, once: where it started."""
    start = interval.started_at
    first = Period(start, start + _MICROSECOND)
    if claims is not None and claims.concern(interval):
        key, _, _ = shares_of(interval, first, claims)[0]
        tally.add_minimum(interval, key, ran)
        return
    ((job, _),) = holders.of(interval, first)
    tally.add_minimum(interval, job, ran)


class _Tally:
    """Sums by cell while intervals are walked; amounts in integers only."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._series: dict[int, tuple[PriceKey, list[tuple[int, Rate]]]] = {}
        self._bounds: dict[datetime, int] = {}
        self._splits: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self._cells: dict[_Cell, list[int]] = {}
        self._unknown: dict[tuple[str, PriceKey], set[str]] = {}
        self.free: set[str] = set()

    def add(
        self, interval: UsageInterval, job: str, part: Period, held: Between = WHOLE
    ) -> None:
        """Add one part of an interval that belongs to one job, or a share of it."""
        start, end = self._bound(part.start), self._bound(part.end)
        began = _micros(interval.started_at)
        share, whole = _billed_share(interval)
        for number, (key, units) in enumerate(quantities(interval)):
            for base, since, until, rate in self._rates(key, start, end):
                if rate is None:
                    self._miss(job, key, interval)
                    continue
                # Running totals begin where the price does, or the interval: never
                # at a bound of the question, so that answers add up exactly.
                origin = max(began, base)
                nanos = rate.nanos * units * share
                before = _cost(nanos, since - origin, whole)
                for day, first, last in self._split(since, until):
                    after = _cost(nanos, last - origin, whole)
                    cell = _cell(interval, job, day, rate.currency)
                    cost, ran = after - before, 0 if number else last - first
                    if held is not WHOLE:
                        cost, ran = between(cost, held), between(ran, held)
                    self._book(cell, cost, ran)
                    before = after

    def add_minimum(self, interval: UsageInterval, job: str, ran: timedelta) -> None:
        """Add what a run shorter than the minimum lacks, on the day of its start."""
        instant = _micros(interval.started_at)
        done, least = ran // _MICROSECOND, MINIMUM // _MICROSECOND
        for key, units in quantities(interval):
            ((_, _, _, rate),) = self._rates(key, instant, instant + 1)
            if rate is None:
                self._miss(job, key, interval)
                continue
            nanos = rate.nanos * units
            cell = _cell(interval, job, instant // _DAY, rate.currency)
            self._book(cell, _cost(nanos, least) - _cost(nanos, done), least - done)

    def accrued(self) -> Accrued:
        """Return the sums, sorted."""
        cells = [
            AccruedCell(
                key=_key_of(cell),
                amount=Money(nanos, cell[-1]),
                running=running * _MICROSECOND,
            )
            for cell, (nanos, running) in self._cells.items()
        ]
        unknown = [
            Unpriced(
                job=job,
                product=key.product,
                region=key.region,
                purchase=key.purchase,
                reason=missing_reason(key),
                resources=len(resources),
            )
            for (job, key), resources in self._unknown.items()
        ]
        return Accrued(
            cells=tuple(sorted(cells, key=lambda cell: cell.key)),
            unknown=tuple(sorted(unknown)),
            free=tuple(sorted(self.free)),
        )

    def _book(self, key: _Cell, nanos: int, running: int) -> None:
        sums = self._cells.get(key)
        if sums is None:
            sums = self._cells[key] = [0, 0]
        sums[0] += nanos
        sums[1] += running

    def _split(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """Split a span by day; what runs all the time has it in common."""
        found = self._splits.get((start, end))
        if found is None:
            found = self._splits[start, end] = _days(start, end)
        return found

    def _bound(self, instant: datetime) -> int:
        """Return an instant that many parts have in common, in microseconds."""
        found = self._bounds.get(instant)
        if found is None:
            found = self._bounds[instant] = _micros(instant)
        return found

    def _miss(self, job: str, key: PriceKey, interval: UsageInterval) -> None:
        self._unknown.setdefault((job, key), set()).add(interval.resource_id)

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


def _cell(interval: UsageInterval, job: str, day: int, currency: str) -> _Cell:
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


def _key_of(cell: _Cell) -> CellKey:
    job, account, day, kind, region, shape, lifecycle, currency = cell
    return CellKey(
        job=job,
        account=account,
        day=_EPOCH_DAY + timedelta(days=day),
        cost_category=category_of(kind),
        region=region,
        shape=shape,
        lifecycle=lifecycle,
        currency=currency,
        kind=kind,
    )
