"""Provisional cost: running intervals times prices, to the second.

What AWS bills by time is followed: an instance costs at least 60 seconds at each start
(booked where it started), pending time nothing, spot capacity that AWS took back in
its first hour nothing, a volume its size by the hour of a 730-hour month, a training
job the seconds that AWS says are billed. A missing price is named, never zero. Sums are
exact: parts of an interval (days, jobs, windows) always add up to the whole, because
each is the difference of two rounded running totals. Pure; knows no store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from billing.core.attribution import TagKeys, job_spans, normalise_job, split_by_job
from billing.core.charges import CostCategory
from billing.core.claims import Claims
from billing.core.fleet import Lifecycle
from billing.core.holdings import shares_of
from billing.core.money import Money
from billing.core.periods import Period, start_of
from billing.core.priced import (
    bucket_of,
    category_of,
    missing_reason,
    product_text,
)
from billing.core.prices import Purchase
from billing.core.tally import Cell, Part, Prices, Tally
from billing.core.usage import ResourceKind, TagSpan, UsageInterval

MINIMUM = timedelta(seconds=60)
FREE_WHEN_RECLAIMED_WITHIN = timedelta(hours=1)

_MICROSECOND = timedelta(microseconds=1)
_HOUR = timedelta(hours=1) // _MICROSECOND
_DAY = 24 * _HOUR
_EPOCH_DAY = date(1970, 1, 1)
_EPOCH = start_of(_EPOCH_DAY)


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
    tally = Tally(prices)
    through = billed_through or {}
    sinces: dict[str, datetime] = {}
    for interval in intervals:
        account = interval.account
        since = sinces.get(account)
        if since is None:
            since = max(through.get(account, _EPOCH), period.start)
            sinces[account] = since
        end = billed_end(interval, now)
        start, until = max(interval.started_at, since), min(end, period.end)
        if is_free(interval):
            if start < until:
                tally.free.add(interval.resource_id)
            continue
        if start < until:
            _add(tally, interval, (start, until), holders, claims)
        if end - interval.started_at < MINIMUM:
            is_start = (
                since <= interval.started_at < min(period.end, now + _MICROSECOND)
            )
            if is_start and interval.kind is ResourceKind.INSTANCE:
                _book_minimum(tally, interval, holders, claims, end=end)
    return _accrued(tally)


def _add(
    tally: Tally,
    interval: UsageInterval,
    part: Part,
    holders: _Holders,
    claims: Claims | None,
) -> None:
    if claims is not None and claims.concern(interval) and not bucket_of(interval.kind):
        for key, of_key, held in shares_of(interval, Period(*part), claims):
            tally.add(interval, key, (of_key.start, of_key.end), held)
        return
    for job, of_job in holders.of(interval, part):
        tally.add(interval, job, of_job)


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

    def of(self, interval: UsageInterval, part: Part) -> list[tuple[str, Part]]:
        """Split a part of an interval at every change of its job."""
        if bucket := bucket_of(interval.kind):
            return [(bucket, part)]
        resource, parent = interval.resource_id, interval.parent_id
        spans = self._names(resource) or self._names(parent)
        if not spans:
            return [("", part)]
        if len(spans) == 1:  # One tag all the time: the usual case.
            span, end = spans[0], spans[0].valid_to
            if span.valid_from <= part[0] and (end is None or part[1] <= end):
                return [(normalise_job(span.value), part)]
        own = self._spans.get(resource, [])
        inherited = self._spans.get(parent, []) if parent else []
        found = split_by_job(Period(*part), own, self._keys, parent=inherited)
        return [(job, (one.start, one.end)) for job, one in found]

    def _names(self, resource: str) -> list[TagSpan]:
        """Return the tags of a resource that ever named a job."""
        found = self._named.get(resource)
        if found is None:
            spans = self._spans.get(resource)
            found = job_spans(spans, self._keys.job) if spans else []
            self._named[resource] = found
        return found


def _book_minimum(
    tally: Tally,
    interval: UsageInterval,
    holders: _Holders,
    claims: Claims | None,
    *,
    end: datetime,
) -> None:
    """Book what a run shorter than the minimum lacks, once: where it started."""
    start = interval.started_at
    first, ran = (start, start + _MICROSECOND), end - start
    if claims is not None and claims.concern(interval):
        key, _, _ = shares_of(interval, Period(*first), claims)[0]
        tally.add_minimum(interval, key, ran, MINIMUM)
        return
    ((job, _),) = holders.of(interval, first)
    tally.add_minimum(interval, job, ran, MINIMUM)


def _accrued(tally: Tally) -> Accrued:
    """Return the sums, sorted."""
    tally.close()
    cells = [
        AccruedCell(
            key=_key_of(cell),
            amount=Money(nanos, cell[-1]),
            running=running * _MICROSECOND,
        )
        for cell, (nanos, running) in tally.cells.items()
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
        for (job, key), resources in tally.unknown.items()
    ]
    return Accrued(
        cells=tuple(sorted(cells, key=lambda cell: cell.key)),
        unknown=tuple(sorted(unknown)),
        free=tuple(sorted(tally.free)),
    )


def _key_of(cell: Cell) -> CellKey:
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
