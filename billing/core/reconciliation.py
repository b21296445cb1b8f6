"""Provisional cost against the bill, by job and day, with what explains each difference.

Both sides are given: what running time x price says of days that are billed by now, and
the bill of them. Every difference is the exact sum of its reasons: hours that the bill
counts and nobody saw (or the other way round), a price other than the list's, and what
never accrues. Pure; knows no store.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from billing.core.accrual import AccruedCell
from billing.core.charges import (
    BUCKET_PREFIX,
    Bucket,
    CostCategory,
    PricingCategory,
)
from billing.core.fleet import Lifecycle
from billing.core.gpus import family_of
from billing.core.money import USD, Money
from billing.core.reconciled import (
    JUDGED_FROM,
    BilledLine,
    JobDay,
    Known,
    Pool,
    Reason,
    Score,
    score,
)

__all__ = [
    "JUDGED_FROM",
    "BilledLine",
    "JobDay",
    "Known",
    "Pool",
    "Reason",
    "Score",
    "reconcile",
    "score",
]

#: Hours of an account agree when they differ by less than this share.
_AGREE = Fraction(1, 100)
#: From its launch an instance takes about this long to run, which costs nothing.
_BOOT_HOURS = Fraction(2, 60)
_MINIMUM_HOURS = Fraction(1, 60)
#: Two roundings of one amount are closer than this part of it.
_ROUNDING = 10_000
_UNTAGGED = f"{BUCKET_PREFIX}{Bucket.UNTAGGED}"
_SPOT = frozenset({PricingCategory.DYNAMIC})


@dataclass(slots=True)
class _Side:
    """Compute of one job in one pool, as the bill and as running time tell it.

    Attributes:
        accrued / listed: Running time at the share that was paid, and at the whole price.
    """

    billed: int = 0
    accrued: int = 0
    listed: int = 0
    hours: Fraction | None = Fraction(0)
    ran: Fraction = Fraction(0)
    pricing: frozenset[PricingCategory] = frozenset()
    is_committed: bool = False


def reconcile(
    billed: Iterable[BilledLine], accrued: Iterable[AccruedCell], known: Known
) -> tuple[JobDay, ...]:
    """Hold the bill's effective cost against running time x price, by day, key, account.

    Buckets other than ``untagged`` never accrue and are left to whoever lists them.
    """
    work = _Work(known)
    for line in billed:
        work.add_billed(line)
    for cell in accrued:
        work.add_accrued(cell)
    return work.job_days()


class _Work:
    """Sums of both sides while lines are walked; amounts in integers."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._compute: dict[tuple[date, str, str], dict[Pool, _Side]] = {}
        self._rest: dict[tuple[date, str, str], dict[CostCategory, list[int]]] = {}
        self._hours: dict[Pool, list[Fraction]] = {}
        self._keys: dict[Pool, set[str]] = {}
        self._currency = USD

    def add_billed(self, line: BilledLine) -> None:
        """Add one line of the bill."""
        self._currency = line.effective.currency
        place = (line.day, line.key, line.account)
        if not line.shape:
            self._add_rest(place, line.cost_category, line.effective.nanos, 0)
            return
        is_spot = line.pricing in _SPOT
        pool = (line.account, line.day, line.region, line.shape, is_spot)
        side = self._side(place, pool)
        side.billed += line.effective.nanos
        side.pricing |= {line.pricing}
        side.is_committed |= line.pricing is PricingCategory.COMMITTED or _is_amortised(
            line
        )
        if line.hours is None or side.hours is None:
            side.hours = None
        else:
            side.hours += line.hours
        self._add_hours(pool, 0, line.hours or Fraction(0))

    def add_accrued(self, cell: AccruedCell) -> None:
        """Add one cell of running time x price."""
        self._currency = cell.amount.currency
        key = cell.key
        place = (key.day, key.job or _UNTAGGED, key.account)
        if key.cost_category is not CostCategory.COMPUTE:
            self._add_rest(place, key.cost_category, 0, cell.amount.nanos)
            return
        is_spot = key.lifecycle is Lifecycle.SPOT
        pool = (key.account, key.day, key.region, key.shape, is_spot)
        side = self._side(place, pool)
        side.accrued += self._paid(cell)
        side.listed += cell.amount.nanos
        ran = Fraction(cell.running // timedelta(microseconds=1), 3_600_000_000)
        side.ran += ran
        self._add_hours(pool, 1, ran)

    def _paid(self, cell: AccruedCell) -> int:
        """Return a cell's amount at the share that answers of its day counted with."""
        key = cell.key
        share = self._known.shares.get((key.account, family_of(key.shape), key.day))
        if share is None or key.lifecycle is not Lifecycle.ON_DEMAND:
            return cell.amount.nanos
        return round(cell.amount.nanos * share)

    def _side(self, place: tuple[date, str, str], pool: Pool) -> _Side:
        self._keys.setdefault(pool, set()).add(place[1])
        return self._compute.setdefault(place, {}).setdefault(pool, _Side())

    def _add_rest(
        self,
        place: tuple[date, str, str],
        category: CostCategory,
        billed: int,
        accrued: int,
    ) -> None:
        sums = self._rest.setdefault(place, {}).setdefault(category, [0, 0])
        sums[0] += billed
        sums[1] += accrued

    def _add_hours(self, pool: Pool, which: int, hours: Fraction) -> None:
        self._hours.setdefault(pool, [Fraction(0), Fraction(0)])[which] += hours

    def job_days(self) -> tuple[JobDay, ...]:
        """Return every job and day, sorted."""
        places = sorted(self._compute.keys() | self._rest.keys())
        return tuple(self._job_day(place) for place in places)

    def _job_day(self, place: tuple[date, str, str]) -> JobDay:
        day, key, account = place
        reasons: dict[Reason, int] = {}
        sides = self._compute.get(place, {})
        for pool, side in sides.items():
            self._explain(key, pool, side, reasons)
        rest = self._rest.get(place, {})
        for category, (billed, accrued) in rest.items():
            _note(reasons, _REST.get(category, Reason.OTHER), billed - accrued)
        every = list(sides.values())
        free = [
            side
            for pool, side in sides.items()
            if not pool[-1] and not side.is_committed
        ]
        compute = self._both((side.billed, side.accrued) for side in every)
        on_demand = self._both((side.billed, side.listed) for side in free)
        others = [sum(sums[side] for sums in rest.values()) for side in (0, 1)]
        return JobDay(
            day=day,
            key=key,
            account=account,
            billed=compute[0] + self._money(others[0]),
            provisional=compute[1] + self._money(others[1]),
            compute=compute,
            on_demand=on_demand,
            reasons=tuple(
                (reason, self._money(nanos))
                for reason, nanos in sorted(
                    reasons.items(), key=lambda one: (-abs(one[1]), one[0])
                )
                if nanos
            ),
            is_complete=(account, day) in self._known.complete,
            is_watched=(account, day) in self._known.watched,
        )

    def _both(self, pairs: Iterable[tuple[int, int]]) -> tuple[Money, Money]:
        found = list(pairs)
        return (
            self._money(sum(billed for billed, _ in found)),
            self._money(sum(accrued for _, accrued in found)),
        )

    def _money(self, nanos: int) -> Money:
        return Money(nanos, self._currency)

    def _explain(
        self, key: str, pool: Pool, side: _Side, reasons: dict[Reason, int]
    ) -> None:
        """Split the difference of one pool into hours, and price for the same hours."""
        gap = side.billed - side.accrued
        if not gap:
            return
        if (key, pool[3]) in self._known.unpriced and not side.accrued:
            _note(reasons, Reason.NO_PRICE, gap)
            return
        if side.hours is None:
            _note(reasons, self._price_reason(pool, side), gap)
            return
        if not side.ran or not side.hours:
            _note(reasons, self._hours_reason(pool, side), gap)
            return
        by_hours = round(side.accrued * (side.hours / side.ran)) - side.accrued
        _note(reasons, self._hours_reason(pool, side), by_hours)
        _note(reasons, self._price_reason(pool, side), gap - by_hours)

    def _hours_reason(self, pool: Pool, side: _Side) -> Reason:
        hours = side.hours or Fraction(0)
        more = hours - side.ran
        is_both = bool(side.ran and hours)
        if is_both and 0 < more <= self._known.doubtful.get(pool, Fraction(0)):
            return Reason.ENDS
        if self._is_elsewhere(pool, more):
            return Reason.TAG
        start = _BOOT_HOURS if more < 0 else _MINIMUM_HOURS
        if is_both and abs(more) <= self._known.starts.get(pool, 0) * start:
            return Reason.MINIMUM
        if more > 0 or not side.ran:
            return Reason.UNSEEN
        account, day, *_ = pool
        is_complete = (account, day) in self._known.complete
        return Reason.NOT_BILLED if is_complete else Reason.NOT_COMPLETE

    def _is_elsewhere(self, pool: Pool, more: Fraction) -> bool:
        """Tell whether others have the hours: the account's agree better than a job's."""
        billed, ran = self._hours[pool]
        apart = abs(billed - ran)
        is_shared = len(self._keys[pool]) > 1 and bool(billed and ran)
        return is_shared and apart <= billed * _AGREE and apart <= abs(more)

    def _price_reason(self, pool: Pool, side: _Side) -> Reason:
        if pool[-1]:
            return Reason.SPOT_PRICE
        if side.is_committed:
            return Reason.COMMITTED
        return Reason.PRICE_CHANGED if pool in self._known.repriced else Reason.DISCOUNT


def _is_amortised(line: BilledLine) -> bool:
    """Tell whether a commitment shows in a line: it cost other than was invoiced."""
    apart = abs(line.effective.nanos - line.billed.nanos)
    return apart * _ROUNDING > abs(line.billed.nanos)


_REST = {
    CostCategory.STORAGE: Reason.STORAGE,
    CostCategory.NETWORK: Reason.NETWORK,
}


def _note(reasons: dict[Reason, int], reason: Reason, nanos: int) -> None:
    reasons[reason] = reasons.get(reason, 0) + nanos
