"""What jobs hold at this moment: whole machines by their tags, shares by placements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.attribution import TagKeys, job_of
from billing.core.charges import BUCKET_PREFIX
from billing.core.gpus import gpu_count
from billing.core.holdings import shares_of
from billing.core.money import Rate
from billing.core.periods import Period
from billing.core.priced import count_price_keys
from billing.core.usage import TagSpan, UsageInterval
from billing.ports import BillLedger
from bot.use_cases.pricing import PriceBook

_INSTANT = timedelta(microseconds=1)


@dataclass(slots=True)
class HeldNow:
    """What one job holds.

    Attributes:
        shares: Machines that it shares with others, and its part of each.
    """

    whole: list[UsageInterval] = field(default_factory=list)
    shares: list[tuple[UsageInterval, Fraction]] = field(default_factory=list)

    @property
    def machines(self) -> int:
        """Return how many machines it holds, shared ones included."""
        every = [*self.whole, *(one for one, _ in self.shares)]
        return sum(one.units for one in every)

    @property
    def gpus(self) -> int | None:
        """Return its accelerators, shares of one counted up; None when not known."""
        total = Fraction(0)
        for one, share in (*((one, Fraction(1)) for one in self.whole), *self.shares):
            each = gpu_count(one.shape)
            if each is None:
                return None
            total += each * one.units * share
        return -(-total.numerator // total.denominator)

    def burn(self, prices: PriceBook) -> Rate | None:
        """Return what it costs per hour; None when any price is unknown."""
        speed = burn_of(self.whole, prices)
        for one, share in self.shares:
            part = burn_of([one], prices)
            if speed is None or part is None:
                return None
            speed += part.scaled(share)
        return speed


def held_now(
    ledger: BillLedger,
    running: Sequence[UsageInterval],
    keys: TagKeys,
    now: datetime,
    *,
    tags: Sequence[TagSpan] | None = None,
) -> Mapping[str, HeldNow]:
    """Return what each job holds of running machines; ``tags`` where they are known."""
    if tags is None:
        ids = sorted({one.resource_id for one in running})
        tags = ledger.tags(ids, keys=keys.job)
    instant = Period(now, now + _INSTANT)
    named = [span for span in tags if span.valid_to is None]
    claims = ledger.claims(running, named, instant)
    holders = jobs_now(named, keys)
    held: dict[str, HeldNow] = {}
    for one in running:
        if claims is None or not claims.concern(one):
            _hold(held, one, [(holders.get(one.resource_id, ""), Fraction(1))])
            continue
        parts = shares_of(one, instant, claims)
        _hold(held, one, [(key, high - low) for key, _, (low, high) in parts])
    return held


def jobs_now(spans: Iterable[TagSpan], keys: TagKeys) -> Mapping[str, str]:
    """Return the job that each resource works for by the tags it carries now."""
    tags: dict[str, list[tuple[str, str]]] = {}
    for span in spans:
        if span.valid_to is None:
            tags.setdefault(span.resource_id, []).append((span.key, span.value))
    known: dict[tuple[tuple[str, str], ...], str] = {}
    jobs = {}
    for resource, pairs in tags.items():
        held = tuple(pairs)  # Few differ: a fleet's instances carry the same tags.
        if held not in known:
            known[held] = job_of(dict(held), keys)
        jobs[resource] = known[held]
    return jobs


def burn_of(running: Sequence[UsageInterval], prices: PriceBook) -> Rate | None:
    """Return what running instances cost per hour; None when any price is unknown."""
    counts = count_price_keys(running)
    known = prices.list_prices(counts)
    if len(known) < len(counts):
        return None
    speed = Rate(0, prices.currency)
    for key, count in counts.items():
        rate = prices.yours(known[key])
        speed += Rate(rate.nanos * count, rate.currency)
    return speed


def _hold(
    held: dict[str, HeldNow],
    interval: UsageInterval,
    shares: Iterable[tuple[str, Fraction]],
) -> None:
    for job, share in shares:
        if not job or job.startswith(BUCKET_PREFIX):
            continue
        mine = held.setdefault(job, HeldNow())
        if share == 1:
            mine.whole.append(interval)
        else:
            mine.shares.append((interval, share))
