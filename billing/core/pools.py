"""Pools: the running time that stands behind lines of the bill, by whom it was for.

A line that names its resource is explained by that resource. One that names only a
usage type (all of Cost Explorer) is explained by all running time of that type in its
region; what the bill's own tag says already is set aside first. What the bill counts
beyond the time that was seen stays unexplained: it is never spread over others.
Pure; knows no store.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import lru_cache

from billing.core.bill_lines import BillLine, Share
from billing.core.categories import instance_type_of, running_type_of
from billing.core.claims import Claims, Segment, Subject, subject_of
from billing.core.fleet import Lifecycle
from billing.core.holdings import segments
from billing.core.periods import Period, day_period
from billing.core.priced import bucket_of
from billing.core.transfers import Rule
from billing.core.usage import ResourceKind, UsageInterval

_MICROSECOND = timedelta(microseconds=1)
_HOUR = timedelta(hours=1) // _MICROSECOND
#: Starting takes time that is not billed; it must not look like untagged time.
STARTING = timedelta(minutes=2) // _MICROSECOND
EVIDENCE_MAX = 3
_VOLUME = re.compile(r"EBS:VolumeUsage\.([a-z0-9]+)$")

Weight = int | Fraction
#: ``("resource", id)``, ``("instance", region, type, "spot"|"")`` or
#: ``("volume", region, type)``.
PoolKey = tuple[str, ...]


@dataclass(slots=True)
class Shares:
    """How much time each holder has, and who said so."""

    weights: dict[Share, Weight] = field(default_factory=dict)
    evidence: dict[Share, dict[str, None]] = field(default_factory=dict)

    def add(self, share: Share, weight: Weight, evidence: Iterable[str]) -> None:
        """Add time of a holder."""
        self.weights[share] = self.weights.get(share, 0) + weight
        told = self.evidence.setdefault(share, {})
        for text in evidence:
            told[text] = None

    def add_all(self, other: Shares, factor: Fraction) -> None:
        """Add everything of another, scaled."""
        for share, weight in other.weights.items():
            self.add(share, weight * factor, other.evidence[share])

    @property
    def total(self) -> Weight:
        """Return all time."""
        return sum(self.weights.values())


def told(evidence: Iterable[str]) -> str:
    """Return evidence as one short line.

    >>> told(["a", "b", "c", "d"])
    'a; b; c; and 1 more'
    """
    texts = [text for text in evidence if text]
    more = len(texts) - EVIDENCE_MAX
    return "; ".join(
        [*texts[:EVIDENCE_MAX], *([f"and {more} more"] if more > 0 else [])]
    )


def pool_of(line: BillLine) -> PoolKey | None:
    """Return the pool that explains a line; None when no running time does."""
    if line.resource_id:
        return ("resource", line.resource_id)
    if line.is_unheld:
        return None
    return _pool_of_usage(line.region, line.usage_type)


@lru_cache(maxsize=4096)
def _pool_of_usage(region: str, usage_type: str) -> PoolKey | None:
    shape = running_type_of(usage_type)
    if shape:
        is_spot = "SpotUsage" in usage_type
        return ("instance", region, shape, "spot" if is_spot else "")
    volume = _VOLUME.search(usage_type)
    return ("volume", region, volume[1]) if volume else None


def pools_of_interval(interval: UsageInterval) -> tuple[PoolKey, ...]:
    """Return the pools that an interval's time is in."""
    own: PoolKey = ("resource", interval.resource_id)
    if interval.kind is ResourceKind.VOLUME:
        return own, ("volume", interval.region, interval.shape)
    if interval.kind is not ResourceKind.INSTANCE:
        return () if bucket_of(interval.kind) else (own,)
    spot = "spot" if interval.lifecycle is Lifecycle.SPOT else ""
    return own, ("instance", interval.region, interval.shape, spot)


class Pool:
    """The time behind the lines of one pool on one day."""

    def __init__(
        self, key: PoolKey, lines: Sequence[BillLine], *, day: date, account: str
    ) -> None:
        self.key = key
        self.is_exact = key[0] == "resource"
        self._day = day
        self._account = account
        self._groups: dict[str, Shares] = {}
        self._starts: dict[str, int] = {}
        self._members = 0
        self._billed = self._quantities(lines)
        self._lines = lines

    def _quantities(self, lines: Sequence[BillLine]) -> dict[str, Fraction | None]:
        """Return how much time the bill counts by its own tag; None is unknown."""
        found: dict[str, Fraction | None] = {}
        for line in lines:
            unit = self._unit(line)
            if unit is None:
                continue  # Not time: it follows the time that other lines count.
            before = found.get(line.job, Fraction(0))
            if before is None or line.quantity is None:
                found[line.job] = None
            else:
                found[line.job] = before + Fraction(line.quantity) * unit
        return found

    def _unit(self, line: BillLine) -> int | None:
        """Return the microseconds in a unit of a line; None when it counts no time."""
        if running_type_of(line.usage_type):
            return _HOUR
        if self.key[0] == "volume":
            days = calendar.monthrange(self._day.year, self._day.month)[1]
            return days * 24 * _HOUR
        return None

    def fill(
        self, intervals: Iterable[UsageInterval], claims: Claims, until: datetime | None
    ) -> None:
        """Add the running time of the pool's members on the day, up to an instant."""
        day = day_period(self._day)
        for interval in intervals:
            end = min(interval.ended_at or until or day.end, day.end)
            start = max(interval.started_at, day.start)
            if start >= end:
                continue
            units = interval.size_gib if self.key[0] == "volume" else 1
            found = segments(subject_of(interval), Period(start, end), claims)
            self._add(found, units)
            self._members += 1
            if start > day.start:
                tag = found[0].tagged
                self._starts[tag] = self._starts.get(tag, 0) + 1
        if self.is_exact and not self._members:
            self._fill_unseen(claims)

    def _fill_unseen(self, claims: Claims) -> None:
        """Stand in for a resource that the inventory never saw.

        Placements count by their time; the rest is what the bill counts beyond them.
        """
        line = max(self._lines, key=lambda one: bool(running_type_of(one.usage_type)))
        subject = Subject(
            resource_id=line.resource_id,
            account=self._account,
            region=line.region,
            shape=instance_type_of(line.usage_type),
            usage_type=line.usage_type,
            service=line.service,
        )
        day = day_period(self._day)
        found = segments(subject, day, claims)
        placed = [one for one in found if _is_placed(one)]
        rest = [one for one in found if not _is_placed(one)]
        self._add(placed, 1)
        known = [one for one in self._billed.values() if one is not None]
        held = sum((_micros(one.period) for one in placed), 0)
        free = sum((_micros(one.period) for one in rest), 0)
        left = (
            max(Fraction(0), sum(known, Fraction(0)) - held)
            if known
            else Fraction(free)
        )
        if free:
            self._add(rest, min(Fraction(1), left / free))

    def _add(self, found: Sequence[Segment], units: Weight) -> None:
        for one in found:
            group = self._groups.setdefault(one.tagged, Shares())
            time = _micros(one.period) * units
            for holder in one.holders:
                part = time if holder.share == 1 else time * holder.share
                group.add((holder.key, holder.rule), part, [holder.evidence])

    def shares(self, line: BillLine) -> Shares:
        """Return by whose time to split a line; key "" is the part to leave as it is."""
        if line.job:
            return self._tagged(line.job)
        return self._untagged(is_time=self._unit(line) is not None)

    def _tagged(self, job: str) -> Shares:
        """Return the shares of what the bill tags: only placements move it."""
        found = Shares()
        groups = [self._groups[job]] if job in self._groups else []
        if not groups and self.is_exact:
            groups = [
                *self._groups.values()
            ]  # The bill's tag stands where none is seen.
        for group in groups:
            for share, weight in group.weights.items():
                is_moved = share[1] is Rule.PLACEMENT
                kept = share if is_moved else ("", None)
                found.add(kept, weight, group.evidence[share] if is_moved else ())
        return self._covered(found, self._billed.get(job))

    def _covered(self, found: Shares, billed: Fraction | None) -> Shares:
        """Leave as it is what the bill counts beyond the time that was seen."""
        if billed is None:
            # Without a count a type's cost cannot be told from time that nobody saw.
            return found if self.is_exact else Shares()
        if billed > found.total:
            found.add(("", None), billed - found.total, ())
        return found

    def _untagged(self, *, is_time: bool) -> Shares:
        """Return the shares of what the bill does not tag.

        Untagged time explains it first; then time whose tag the bill does not show
        (a tag that came late, or was not activated yet).
        """
        own = self._groups.get("", Shares())
        hidden = self._hidden()
        if not is_time and self.is_exact:
            return own if own.total else _sum(self._groups.values())
        billed = self._billed.get("")
        if billed is None:
            if not self.is_exact:
                return Shares()
            billed = Fraction(own.total) + sum(hidden.values(), Fraction(0))
        found = Shares()
        if own.total:
            found.add_all(own, min(Fraction(1), billed / own.total))
        left = billed - found.total
        behind = sum(hidden.values(), Fraction(0))
        if left > 0 and behind > 0:
            reach = min(Fraction(1), Fraction(left) / behind)
            for tag, time in hidden.items():
                group = self._groups[tag]
                found.add_all(group, reach * time / Fraction(group.total))
        return self._covered(found, billed)

    def _hidden(self) -> Mapping[str, Fraction]:
        """Return, by tag, the seen time that the bill does not show under that tag.

        A bill that lags behind has counted less than was seen, whatever the tag: seen
        time is taken in proportion.
        """
        is_sole = len(self._groups) == 1
        hidden: dict[str, Fraction] = {}
        seen = Fraction(sum(group.total for group in self._groups.values()))
        counted = sum(
            (one or Fraction(0) for one in self._billed.values()), Fraction(0)
        )
        reach = min(Fraction(1), counted / seen) if seen else Fraction(0)
        for tag, group in sorted(self._groups.items()):
            billed = self._billed.get(tag, Fraction(0))
            if not tag or billed is None:
                continue
            starting = 0 if is_sole else STARTING * self._starts.get(tag, 0)
            time = group.total * reach - billed - starting
            if time > 0:
                hidden[tag] = time
        return hidden


def _sum(groups: Iterable[Shares]) -> Shares:
    found = Shares()
    for group in groups:
        found.add_all(group, Fraction(1))
    return found


def _is_placed(segment: Segment) -> bool:
    return any(one.rule is Rule.PLACEMENT for one in segment.holders)


def _micros(period: Period) -> int:
    return period.duration // _MICROSECOND
