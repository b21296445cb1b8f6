"""One account's day: from its lines, the fleet and what is claimed to its transfers.

In order: lines that running time explains (`billing.core.pools`); then, for what is
left, assignments by usage, mapping rules, shared cost (`billing.core.shared_cost`).
Commitment benefit comes last. Parts sum to what they are of to the nano-unit. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from billing.core.assignments import Assignment, fits_usage
from billing.core.benefit import benefit_transfers
from billing.core.bill_lines import BillLine, Part, Share, parts_of, whole_of
from billing.core.categories import running_type_of
from billing.core.claims import NOBODY, Claims, Subject
from billing.core.gpus import accelerators
from billing.core.holdings import assigned, mapped
from billing.core.money import total
from billing.core.parents import parent_of_name
from billing.core.periods import Period, day_period
from billing.core.pools import (
    Pool,
    PoolKey,
    Shares,
    pool_of,
    pools_of_interval,
    told,
)
from billing.core.shared_cost import SharedCost, Uses, shared_kind
from billing.core.transfers import Basis, Transfer
from billing.core.usage import UsageInterval

#: Weights are times in microseconds; parts of one do not matter, sums stay exact.
_MICROSECOND = timedelta(microseconds=1)
#: GPU time in billionths of a GPU hour: whole numbers, whatever the shares were.
_GPU_HOUR = 10**9
_NOBODYS: frozenset[Share] = frozenset({("", None)})


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
    work.leave()
    found = [_transfer(day, part) for part in work.parts if part.is_moved]
    found += work.shared.transfers(day.uses, work.gpu_time)
    if day.claims.rules.is_proportional:
        found += benefit_transfers(work.parts, account=day.account, day=day.day)
    return summed(found)


class _Work:
    """Parts of lines while they are made.

    Attributes:
        parts: Those that move; where benefit is shared those that stay, too.
        shared: Cost to be split by GPU time, once all of that is known.
        gpu_time: Region -> key -> GPU time, of everything that was placed.
    """

    def __init__(self, day: Day) -> None:
        self.day = day
        self.parts: list[Part] = []
        self.shared = SharedCost(day.account, day.day)
        self.gpu_time: dict[str, dict[str, int]] = {}
        self._later: list[BillLine] = []
        self._said: dict[tuple[str, ...], Mapping[Share, tuple[int, str]]] = {}
        self._named = {one.resource_id for one in day.claims.assignments}

    def explain(self) -> None:
        """Split the lines that running time explains."""
        by_pool: dict[PoolKey, list[BillLine]] = {}
        for line in self.day.lines:
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
            found = members.get(key, ())
            if found or self._may_be_held(key, by_pool[key]):
                self._explain_pool(key, sorted(by_pool[key], key=_place), found)
            else:
                self._later += by_pool[key]

    def _may_be_held(self, key: PoolKey, lines: Sequence[BillLine]) -> bool:
        """Tell whether anybody may hold a pool whose time nothing saw."""
        kind, resource_id, *_ = key
        claims = self.day.claims
        return kind == "resource" and bool(
            resource_id in self._named
            or resource_id in claims.managed
            or claims.tags.get(resource_id)
            or claims.placements.get(resource_id)
            or parent_of_name(resource_id, claims.rules.parents)
            or any(self._say(line) for line in lines)
        )

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

    def leave(self) -> None:
        """Place the lines that no running time explains."""
        if self.day.claims.rules.is_proportional:
            self._later.sort(key=_place)  # Benefit looks at the first of them.
        for line in self._later:
            self._rest(line)

    def _split(self, line: BillLine, shares: Shares, basis: Basis) -> None:
        """Split a line; what nobody holds is asked of people and rules, then of use."""
        weights = {share: round(weight) for share, weight in shares.weights.items()}
        weights = {share: weight for share, weight in weights.items() if weight > 0}
        if weights.keys() <= _NOBODYS:
            self._rest(line)
            return
        evidence = {share: told(shares.evidence.get(share, ())) for share in weights}
        for part in parts_of(line, weights, evidence, basis=basis):
            if part.rule is not None or line.job:
                self._keep(part)
            else:
                self._rest(part.as_line())

    def _rest(self, line: BillLine) -> None:
        """Place what nobody holds, as far as anybody says."""
        found = {} if line.job else self._say(line)
        if found:
            weights = {share: weight for share, (weight, _) in found.items()}
            evidence = {share: text for share, (_, text) in found.items()}
            for one in parts_of(line, weights, evidence, basis=Basis.ALLOCATED):
                self._keep(one)
            return
        kind = "" if line.job else shared_kind(line.usage_type, line.service)
        if kind and kind in self.day.claims.rules.shares:
            self.shared.add(kind, line)
            return
        self._count(line, line.key, 1, 1)
        if self.day.claims.rules.is_proportional:
            self.parts.append(whole_of(line))

    def _say(self, line: BillLine) -> Mapping[Share, tuple[int, str]]:
        """Return who gets untagged cost by a person or a mapping rule."""
        about = (line.region, line.usage_type, line.service)
        found = self._said.get(about)
        if found is None:
            found = self._said[about] = self._ask(line)
        return found

    def _ask(self, line: BillLine) -> Mapping[Share, tuple[int, str]]:
        claims = self.day.claims
        mine = [one for one in claims.assignments if self._is_mine(one, line)]
        if mine:
            return _by_time(mine, day_period(self.day.day))
        subject = Subject(
            resource_id="",
            account=self.day.account,
            region=line.region,
            usage_type=line.usage_type,
            service=line.service,
        )
        rule = mapped(claims.rules.mapping, subject, {})
        if rule.rule is None:
            return {}
        return {(rule.key, rule.rule): (1, rule.evidence)}

    def _is_mine(self, one: Assignment, line: BillLine) -> bool:
        return (
            one.account == self.day.account
            and bool(one.usage_type)
            and one.region in {"", line.region}
            and fits_usage(one.usage_type, line.usage_type)
        )

    def _keep(self, part: Part) -> None:
        self.parts.append(part)
        self._count(part.line, part.to_key, part.weight, part.of)

    def _count(self, line: BillLine, key: str, weight: int, of: int) -> None:
        """Count GPU time of a part of a line for a key."""
        gpus = _gpus(line.usage_type)
        if not gpus or line.quantity is None or not of:
            return
        above, below = line.quantity.as_integer_ratio()
        time = _rounded(above * gpus * weight, below * of)
        mine = self.gpu_time.setdefault(line.region, {})
        mine[key] = mine.get(key, 0) + time


@lru_cache(maxsize=4096)
def _gpus(usage_type: str) -> int:
    """Return the billionths of a GPU hour in an hour of a usage type."""
    found = accelerators(running_type_of(usage_type))
    return 0 if found is None else round(found.count * found.share * _GPU_HOUR)


def _rounded(above: int, below: int) -> int:
    """Divide whole numbers, ties to even."""
    whole, rest = divmod(above, below)
    is_up = 2 * rest > below or (2 * rest == below and whole % 2)
    return whole + 1 if is_up else whole


def _place(line: BillLine) -> tuple[str, ...]:
    """Order lines, so that the last nano-unit of a split does not depend on luck."""
    names = (line.region, line.service, line.usage_type, line.pricing, line.job)
    return (*names, line.resource_id, line.cost_category, f"{line.billed.nanos:+025d}")


def _start(interval: UsageInterval) -> tuple[str, datetime]:
    return interval.resource_id, interval.started_at


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
