"""Shared cost of one account's day: pooled first, then split once among its users.

NAT gateways, FSx and data transfer that are nobody's own. However many resources they
are billed for, one pool of a usage type, region and cost category is split once: by
measured use where that is known, else by the GPU time of its region. Parts of a pool sum
to it to the nano-unit. Pure; knows no store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from billing.core.bill_lines import BillLine
from billing.core.charges import BUCKET_PREFIX
from billing.core.claims import SHARED_KEY, UNTAGGED_KEY
from billing.core.money import Money, split
from billing.core.transfers import Basis, Rule, Transfer

_SHARED = (
    ("nat", re.compile(r"NatGateway")),
    ("fsx", re.compile(r"FSx|Lustre|ONTAP|OpenZFS")),
    (
        "transfer",
        re.compile(
            r"DataTransfer|DataXfer|AWS-(?:In|Out)-(?:AB)?-?Bytes|(?:In|Out)-Bytes"
        ),
    ),
)

#: (kind, region) -> key -> how much of it the key used, where that is known.
Uses = Mapping[tuple[str, str], Mapping[str, int]]
#: Region -> key -> GPU time.
GpuTime = Mapping[str, Mapping[str, int]]
#: Who gets a part, its weight and why.
_User = tuple[str, int, str]


@lru_cache(maxsize=4096)
def shared_kind(usage_type: str, service: str) -> str:
    """Return what shared cost is for; "" when it is none.

    >>> shared_kind("USE2-NatGateway-Bytes", ""), shared_kind("Storage.SSD", "Amazon FSx")
    ('nat', 'fsx')
    """
    for kind, pattern in _SHARED:
        if pattern.search(usage_type) or (kind == "fsx" and "FSx" in service):
            return kind
    return ""


@dataclass(slots=True)
class _Pool:
    """What was billed alike; ``resource_id`` is "" once there are several."""

    like: BillLine
    resource_id: str
    billed: int = 0
    effective: int = 0
    listed: int | None = 0

    def add(self, line: BillLine) -> None:
        """Add a line; one whose list cost is unknown leaves the pool's unknown."""
        if line.resource_id != self.resource_id:
            self.resource_id = ""
        self.billed += line.billed.nanos
        self.effective += line.effective.nanos
        if line.list_cost is None or self.listed is None:
            self.listed = None
        else:
            self.listed += line.list_cost.nanos


@dataclass(slots=True)
class SharedCost:
    """The pools of one day while they fill."""

    account: str
    day: date
    _pools: dict[tuple[str, ...], _Pool] = field(default_factory=dict)

    def add(self, kind: str, line: BillLine) -> None:
        """Add untagged cost of one kind."""
        key = (
            *(kind, line.region, line.service, line.usage_type),
            *(line.pricing, line.cost_category),
        )
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = _Pool(line, line.resource_id)
        pool.add(line)

    def transfers(self, uses: Uses, gpu_time: GpuTime) -> Iterator[Transfer]:
        """Yield who gets what of every pool; where no job ran it stays as it is."""
        known: dict[tuple[str, str], list[_User]] = {}
        for (kind, region, *_), pool in self._pools.items():
            users = known.get((kind, region))
            if users is None:
                users = known[kind, region] = _users(kind, region, uses, gpu_time)
            if users:
                yield from self._split(pool, users)

    def _split(self, pool: _Pool, users: Sequence[_User]) -> Iterator[Transfer]:
        sizes = [weight for _, weight, _ in users]
        line, currency = pool.like, pool.like.billed.currency
        billed = _parts(pool.billed, currency, sizes)
        effective = _parts(pool.effective, currency, sizes)
        listed: Sequence[Money | None] = [None] * len(sizes)
        if pool.listed is not None:
            listed = _parts(pool.listed, currency, sizes)
        for place, (key, _, evidence) in enumerate(users):
            yield Transfer(
                account=self.account,
                day=self.day,
                region=line.region,
                service=line.service,
                usage_type=line.usage_type,
                pricing=line.pricing,
                cost_category=line.cost_category,
                resource_id=pool.resource_id,
                from_key=UNTAGGED_KEY,
                to_key=key,
                billed=billed[place],
                effective=effective[place],
                list_cost=listed[place],
                rule=Rule.SHARED,
                basis=Basis.ALLOCATED,
                evidence=evidence,
            )


def _users(kind: str, region: str, uses: Uses, gpu_time: GpuTime) -> list[_User]:
    """Return who shares; what no job used is one part. Empty where no job used any."""
    used = uses.get((kind, region))
    by = f"{kind} by measured use" if used else f"{kind} by GPU hours"
    weights = used or _time_in(region, gpu_time)
    jobs = {
        key: weight
        for key, weight in weights.items()
        if weight > 0 and not key.startswith(BUCKET_PREFIX)
    }
    if not jobs:
        return []
    text = f"{by} of {region or 'every region'}"
    users = [(key, jobs[key], text) for key in sorted(jobs)]
    others = sum(weights.values()) - sum(jobs.values())
    if others:
        users.append((SHARED_KEY, others, f"{text}, held by no job"))
    return users


def _time_in(region: str, gpu_time: GpuTime) -> Mapping[str, int]:
    if region:
        return gpu_time.get(region, {})
    every: dict[str, int] = {}
    for weights in gpu_time.values():
        for key, weight in weights.items():
            every[key] = every.get(key, 0) + weight
    return every


def _parts(nanos: int, currency: str, sizes: Sequence[int]) -> Sequence[Money]:
    parts = split(Money(nanos, currency), sizes)
    assert parts is not None, "weights are positive"
    return parts
