"""One account's day: from its lines, the fleet and what is claimed to its transfers.

In order: lines that running time explains (`billing.core.pools`); then, for what is
left, assignments by usage, mapping rules, shared cost by a named rule. Commitment
benefit comes last. Parts of a line sum to the line to the nano-unit. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise

from billing.core.assignments import Assignment, fits_usage
from billing.core.benefit import benefit_transfers
from billing.core.bill_lines import BillLine, Part, Share, parts_of
from billing.core.categories import running_type_of
from billing.core.charges import BUCKET_PREFIX
from billing.core.claims import NOBODY, SHARED_KEY, Claims, Subject
from billing.core.gpus import accelerators
from billing.core.holdings import assigned, mapped
from billing.core.money import total
from billing.core.periods import Period, day_period
from billing.core.pools import (
    Pool,
    PoolKey,
    Shares,
    pool_of,
    pools_of_interval,
    told,
)
from billing.core.transfers import Basis, Rule, Transfer
from billing.core.usage import UsageInterval

#: Weights are times in microseconds; parts of one do not matter, sums stay exact.
_MICROSECOND = timedelta(microseconds=1)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """Everything that one account's day is attributed from.

    Attributes:
        lines: Usage before credits; each says whose tag the bill shows.
        intervals: What ran on the day, also beyond it.
        uses: Who used shared things, where something measured it.
        until: What still runs counts up to it; None: to the end of the day.
    """

    account: str
    day: date
    lines: Sequence[BillLine]
    intervals: Sequence[UsageInterval] = ()
    claims: Claims = field(default_factory=Claims)
    uses: Uses = field(default_factory=dict)
    until: datetime | None = None


def transfers_of(day: Day) -> list[Transfer]:
    """Return the transfers of a day, in a fixed order; empty when the bill says it all."""
    work = _Work(day)
    work.explain()
    work.share()
    parts = work.parts
    moved = [part for part in parts if part.to_key != part.line.key]
    found = [_transfer(day, part) for part in moved]
    if day.claims.rules.is_proportional:
        found += benefit_transfers(parts, account=day.account, day=day.day)
    return summed(found)


@dataclass(slots=True)
class _Work:
    """Parts of lines while they are made."""

    day: Day
    parts: list[Part] = field(default_factory=list)
    _later: list[BillLine] = field(default_factory=list)
    #: Region -> key -> GPU time, of what running time explained.
    _gpus: dict[str, dict[str, int]] = field(default_factory=dict)

    def explain(self) -> None:
        """Split the lines that running time explains."""
        by_pool: dict[PoolKey, list[BillLine]] = {}
        for line in sorted(self.day.lines, key=_place):
            key = pool_of(line)
            if key is None:
                self._later.append(line)
            else:
                by_pool.setdefault(key, []).append(line)
        members: dict[PoolKey, list[UsageInterval]] = {}
        for interval in sorted(self.day.intervals, key=_start):
            for key in pools_of_interval(interval):
                if key in by_pool:
                    members.setdefault(key, []).append(interval)
        for key in sorted(by_pool):
            self._explain_pool(key, by_pool[key], members.get(key, ()))

    def _explain_pool(
        self,
        key: PoolKey,
        lines: Sequence[BillLine],
        members: Sequence[UsageInterval],
    ) -> None:
        pool = Pool(key, lines, day=self.day.day, account=self.day.account)
        pool.fill(members, self.day.claims, self.day.until)
        known: dict[tuple[str, bool], Shares] = {}
        basis = Basis.EXACT if pool.is_exact else Basis.ALLOCATED
        for line in lines:
            about = (line.job, bool(running_type_of(line.usage_type)))
            if about not in known:
                known[about] = pool.shares(line)
            self._split(line, known[about], basis)

    def share(self) -> None:
        """Split the lines that no running time explains."""
        for line in self._later:
            self._split(line, Shares(), Basis.ALLOCATED)

    def _split(self, line: BillLine, shares: Shares, basis: Basis) -> None:
        """Split a line; what nobody holds is asked of people and rules, then of use."""
        weights = {share: round(weight) for share, weight in shares.weights.items()}
        weights = {share: weight for share, weight in weights.items() if weight > 0}
        if not weights:
            weights = {("", None): 1}
        evidence = {share: told(shares.evidence.get(share, ())) for share in weights}
        for part in parts_of(line, weights, evidence, basis=basis):
            if part.rule is not None or line.job:
                self._keep(part)
            else:
                self._rest(part)

    def _rest(self, part: Part) -> None:
        """Place a part that nobody holds, as far as anybody says."""
        found = self._said(part.line)
        if not found:
            self._keep(part)
            return
        rest = part.as_line()
        weights = {share: weight for share, (weight, _) in found.items()}
        evidence = {share: text for share, (_, text) in found.items()}
        for one in parts_of(rest, weights, evidence, basis=Basis.ALLOCATED):
            self._keep(one)

    def _said(self, line: BillLine) -> Mapping[Share, tuple[int, str]]:
        """Return who gets untagged cost by a person, a mapping rule or its use."""
        claims, day = self.day.claims, day_period(self.day.day)
        mine = [one for one in claims.assignments if self._is_mine(one, line)]
        if mine:
            return _by_time(mine, day)
        subject = Subject(
            resource_id=line.resource_id,
            account=self.day.account,
            region=line.region,
            usage_type=line.usage_type,
            service=line.service,
        )
        rule = mapped(claims.rules.mapping, subject, {})
        if rule.rule is not None:
            return {(rule.key, rule.rule): (1, rule.evidence)}
        return self._shared(line)

    def _is_mine(self, one: Assignment, line: BillLine) -> bool:
        return (
            one.account == self.day.account
            and bool(one.usage_type)
            and one.region in {"", line.region}
            and fits_usage(one.usage_type, line.usage_type)
        )

    def _shared(self, line: BillLine) -> Mapping[Share, tuple[int, str]]:
        kind = shared_kind(line.usage_type, line.service)
        if kind not in self.day.claims.rules.shares:
            return {}
        used = self.day.uses.get((kind, line.region))
        by = f"{kind} by measured use" if used else f"{kind} by GPU hours"
        weights = used or self._gpu_time(line.region)
        jobs = {
            key: weight
            for key, weight in weights.items()
            if weight > 0 and not key.startswith(BUCKET_PREFIX)
        }
        if not jobs:
            return {}
        others = sum(weights.values()) - sum(jobs.values())
        text = f"{by} of {line.region or 'every region'}"
        found: dict[Share, tuple[int, str]] = {
            (key, Rule.SHARED): (weight, text) for key, weight in jobs.items()
        }
        if others:
            found[SHARED_KEY, Rule.SHARED] = (others, f"{text}, held by no job")
        return found

    def _gpu_time(self, region: str) -> Mapping[str, int]:
        if region:
            return self._gpus.get(region, {})
        every: dict[str, int] = {}
        for weights in self._gpus.values():
            for key, weight in weights.items():
                every[key] = every.get(key, 0) + weight
        return every

    def _keep(self, part: Part) -> None:
        self.parts.append(part)
        found = accelerators(running_type_of(part.line.usage_type))
        if found is None or part.line.quantity is None or not part.of:
            return
        # In billionths of a GPU hour: whole numbers, whatever the shares were.
        time = Fraction(part.line.quantity) * found.count * found.share * 10**9
        gpus = self._gpus.setdefault(part.line.region, {})
        weight = round(time * part.weight / part.of)
        gpus[part.to_key] = gpus.get(part.to_key, 0) + weight


def _place(line: BillLine) -> tuple[str, ...]:
    """Order lines, so that the last nano-unit of a split does not depend on luck."""
    names = (line.region, line.service, line.usage_type, line.pricing, line.job)
    return (*names, line.resource_id, line.cost_category, f"{line.billed.nanos:+025d}")


def _start(interval: UsageInterval) -> tuple[str, datetime]:
    return interval.resource_id, interval.started_at


def shared_kind(usage_type: str, service: str) -> str:
    """Return what shared cost is for; "" when it is none.

    >>> shared_kind("USE2-NatGateway-Bytes", ""), shared_kind("Storage.SSD", "Amazon FSx")
    ('nat', 'fsx')
    """
    for kind, pattern in _SHARED:
        if pattern.search(usage_type) or (kind == "fsx" and "FSx" in service):
            return kind
    return ""


def summed(transfers: Iterable[Transfer]) -> list[Transfer]:
    """Return transfers that say the same as one, sorted; those of nothing go."""
    groups: dict[tuple[str, ...], list[Transfer]] = {}
    for one in transfers:
        groups.setdefault(_sameness(one), []).append(one)
    found = [_sum(groups[key]) for key in sorted(groups)]
    return [one for one in found if one.billed.nanos or one.effective.nanos]


def _sameness(one: Transfer) -> tuple[str, ...]:
    return (
        *(one.from_key, one.to_key, one.region, one.service, one.usage_type),
        *(one.pricing, one.cost_category, one.resource_id, one.rule, one.basis),
    )


def _sum(same: Sequence[Transfer]) -> Transfer:
    if len(same) == 1:
        return same[0]
    currency = same[0].billed.currency
    lists = [one.list_cost for one in same]
    known = [one for one in lists if one is not None]
    return replace(
        same[0],
        billed=total((one.billed for one in same), currency),
        effective=total((one.effective for one in same), currency),
        list_cost=total(known, currency) if len(known) == len(lists) else None,
        evidence=told(dict.fromkeys(one.evidence for one in same)),
    )


def _by_time(
    assignments: Sequence[Assignment], day: Period
) -> Mapping[Share, tuple[int, str]]:
    """Return the shares of assignments by how much of the day they hold."""
    cuts = {day.start, day.end}
    for one in assignments:
        cuts |= {at for at in (one.since, one.until) if at is not None and at in day}
    found: dict[Share, tuple[int, str]] = {}
    for start, end in pairwise(sorted(cuts)):
        holder = assigned(assignments, start) or NOBODY
        before, _ = found.get((holder.key, holder.rule), (0, ""))
        weight = before + (end - start) // _MICROSECOND
        found[holder.key, holder.rule] = (weight, holder.evidence)
    return found


def _transfer(day: Day, part: Part) -> Transfer:
    assert part.rule is not None
    line = part.line
    return Transfer(
        account=day.account,
        day=day.day,
        region=line.region,
        service=line.service,
        usage_type=line.usage_type,
        pricing=line.pricing,
        cost_category=line.cost_category,
        resource_id=line.resource_id,
        from_key=line.key,
        to_key=part.to_key,
        billed=part.billed,
        effective=part.effective,
        list_cost=part.list_cost,
        rule=part.rule,
        basis=part.basis,
        evidence=part.evidence,
    )
