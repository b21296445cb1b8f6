"""List the largest untagged cost, and whose it probably is; nothing is ever applied.

The money is that of ``bucket:untagged``, line by line. Who it may belong to comes from
what the inventory saw of the same account, region and kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from billing.core.categories import region_of, running_type_of
from billing.core.charges import BUCKET_PREFIX, Bucket
from billing.core.data.region_codes import REGION_CODES
from billing.core.money import Money, total
from billing.core.periods import HOUR, Period, day_of, start_of
from billing.core.usage import ResourceKind, UsageInterval
from billing.ports.charge_lines import ChargeFilter
from bot.use_cases.cost import ask_cost
from bot.use_cases.explain import Explainer
from bot.use_cases.explain_figure import Figure, Subject
from bot.use_cases.parts import CostQuestion
from bot.use_cases.untagged_score import (
    LEAST,
    POINTS,
    Profile,
    Trace,
    best,
    profiles,
    suggested,
    traces,
)
from bot.views.explain_values import ChargeLine, Line, RunningTime, TransferLine
from bot.views.untagged_values import (
    Confirmed,
    Reason,
    Suggestion,
    UntaggedAnswer,
    UntaggedItem,
    UntaggedResource,
)

#: Items whose resources and jobs are looked for; smaller ones are listed without.
ITEMS_LOOKED_AT = 50
RESOURCES_MAX = 20
NO_RESOURCE = "no resource of this kind was seen, and several jobs or none paid for it"
NO_SIGN = "nothing that was seen of its resources fits a job"
SEVERAL = "its resources fit different jobs: confirm them one by one"


@dataclass(slots=True)
class _Sum:
    """One item on its way."""

    account: str
    region: str
    what: str
    usage_types: set[str] = field(default_factory=set)
    closed: list[Money] = field(default_factory=list)
    open_: list[Money] = field(default_factory=list)
    days: list[date] = field(default_factory=list)

    @property
    def item(self) -> str:
        """Return how the item is named."""
        return f"{self.account}/{self.region or '-'}/{self.what}"


def untagged_items(
    explainer: Explainer,
    since: date | None,
    until: date | None,
    *,
    confirmed: Sequence[Confirmed] = (),
) -> UntaggedAnswer:
    """Return the untagged cost of a window by account, region and kind."""
    figure = Figure(
        subject=Subject.BUCKET, name=Bucket.UNTAGGED.value, since=since, until=until
    )
    explained = explainer.explain(figure)
    whole = ask_cost(
        explainer.ledger,
        CostQuestion(since=since, until=until),
        prices=explainer.prices,
        keys=explainer.keys,
        stale=(),
        now=explainer.now,
    )
    period = Period(explained.since, explained.until)
    seen = _Seen(explainer, period)
    sums = sorted(
        _sums(explained.lines),
        key=lambda one: (-_total(one, explained.currency).nanos, one.item),
    )
    items = tuple(
        seen.judged(_item(one, explained.currency), one)
        if number < ITEMS_LOOKED_AT
        else _item(one, explained.currency)
        for number, one in enumerate(sums)
        if _total(one, explained.currency).nanos
    )
    return UntaggedAnswer(
        currency=explained.currency,
        since=explained.since,
        until=explained.until,
        as_of=explainer.now,
        total=explained.total or Money.zero(explained.currency),
        share_of=whole.total,
        items=items,
        confirmed=tuple(confirmed),
        stale=explained.stale,
        sources=explained.sources,
        unknown=explained.unknown,
    )


def _sums(lines: Iterable[Line]) -> list[_Sum]:
    found: dict[tuple[str, str, str], _Sum] = {}
    for line in lines:
        if not isinstance(line, ChargeLine | RunningTime | TransferLine):
            continue
        what = _what(line)
        key = (line.account, line.region, what)
        one = found.setdefault(key, _Sum(*key))
        is_open = isinstance(line, RunningTime) or line.is_open
        (one.open_ if is_open else one.closed).append(line.amount)
        one.days += [line.since, line.until]
    return [*found.values()]


def _what(line: ChargeLine | RunningTime | TransferLine) -> str:
    if isinstance(line, RunningTime):
        is_volume = line.category == "storage"
        return f"EBS:VolumeUsage.{line.shape}" if is_volume else line.shape
    return kind_of_usage(line.usage_type)


def kind_of_usage(usage_type: str) -> str:
    """Return the instance type of a usage type, else it without its region.

    >>> kind_of_usage("USE2-BoxUsage:p5.48xlarge"), kind_of_usage("USE2-NatGateway-Bytes")
    ('p5.48xlarge', 'NatGateway-Bytes')
    """
    running = running_type_of(usage_type)
    if running:
        return running
    prefix, dash, rest = usage_type.partition("-")
    is_region = bool(dash) and prefix in REGION_CODES and bool(region_of(usage_type))
    return (rest if is_region else usage_type) or "(no usage type)"


def pattern_of(what: str) -> str:
    """Return the pattern of the usage types that an item holds.

    >>> pattern_of("p5.48xlarge"), pattern_of("NatGateway-Bytes")
    ('*Usage:p5.48xlarge', '*NatGateway-Bytes')
    """
    is_type = running_type_of(f"BoxUsage:{what}") == what
    return f"*Usage:{what}" if is_type else f"*{what}"


def kind_of_pattern(pattern: str) -> str:
    """Return what `pattern_of` was made of.

    >>> kind_of_pattern("*Usage:p5.48xlarge"), kind_of_pattern("*NatGateway-Bytes")
    ('p5.48xlarge', 'NatGateway-Bytes')
    """
    return pattern.removeprefix("*Usage:").removeprefix("*")


def _total(one: _Sum, currency: str) -> Money:
    return total([*one.closed, *one.open_], currency)


def _item(one: _Sum, currency: str) -> UntaggedItem:
    return UntaggedItem(
        item=one.item,
        account=one.account,
        region=one.region,
        what=one.what,
        pattern=pattern_of(one.what),
        total=_total(one, currency),
        billed=total(one.closed, currency),
        provisional=total(one.open_, currency),
        since=min(one.days),
        until=max(one.days),
        unknown=NO_SIGN,
    )


class _Seen:
    """What the inventory saw in a window, read once."""

    def __init__(self, explainer: Explainer, period: Period) -> None:
        self._explainer = explainer
        self._period = period
        ledger = explainer.ledger
        intervals = ledger.intervals(period)
        ids = sorted({one.resource_id for one in intervals})
        known = traces(intervals, ledger.tags(ids), explainer.keys)
        self._loose = [one for one in known if one.is_loose]
        self._profiles: Mapping[str, Profile] = profiles(known, explainer.keys)
        self._paid: dict[tuple[str, str], dict[str, set[str]]] = {}

    def judged(self, item: UntaggedItem, sums: _Sum) -> UntaggedItem:
        """Return an item with its resources and the job it probably belongs to."""
        mine = [one for one in self._loose if _fits(one.interval, sums)]
        if not mine:
            return self._by_bill(item)
        found = {one.interval.resource_id: self._suggested(one) for one in mine}
        resources = tuple(
            sorted(
                (self._resource(one, found) for one in _longest(mine, self._hours)),
                key=lambda one: (-one.hours, one.resource_id),
            )
        )[:RESOURCES_MAX]
        return _with(item, resources, found)

    def _suggested(self, trace: Trace) -> tuple[Suggestion, ...]:
        explainer = self._explainer
        return suggested(trace, self._profiles, explainer.keys, explainer.now)

    def _hours(self, one: UsageInterval) -> timedelta:
        end = max(one.started_at, one.ended_at or self._explainer.now)
        shared = Period(one.started_at, end).overlap(self._period)
        return shared.duration if shared else timedelta()

    def _resource(
        self, trace: Trace, found: Mapping[str, tuple[Suggestion, ...]]
    ) -> UntaggedResource:
        name = trace.interval.resource_id
        hours = self._hours(trace.interval) / HOUR
        return UntaggedResource(
            resource_id=name,
            hours=round(hours, 2),
            started_at=trace.interval.started_at,
            suggestion=best(found[name]),
        )

    def _by_bill(self, item: UntaggedItem) -> UntaggedItem:
        """Judge by the bill alone: the only job that paid for the same kind there."""
        jobs = self._paid_for(item.account, item.region).get(item.what, set())
        if len(jobs) != 1:
            return replace(item, unknown=NO_RESOURCE)
        (job,) = jobs
        text = f"the only job that AWS bills for {item.what} in this account and region"
        reason = Reason(text=text, points=POINTS["only"])
        found = Suggestion(job=job, score=LEAST, reasons=(reason,))
        return replace(item, suggestion=found, unknown="")

    def _paid_for(self, account: str, region: str) -> dict[str, set[str]]:
        """Return the jobs that the bill names for each kind in a place."""
        place = (account, region)
        if place not in self._paid:
            start, end = self._period.start, self._period.end
            last = day_of(end)
            until = last if end == start_of(last) else last + timedelta(days=1)
            wanted = ChargeFilter(account=account, region=region)
            held: dict[str, set[str]] = {}
            for one in self._explainer.ledger.charge_sums(day_of(start), until, wanted):
                if not one.key.startswith(BUCKET_PREFIX):
                    held.setdefault(kind_of_usage(one.usage_type), set()).add(one.key)
            self._paid[place] = held
        return self._paid[place]


def _fits(one: UsageInterval, sums: _Sum) -> bool:
    is_volume = one.kind is ResourceKind.VOLUME
    what = f"EBS:VolumeUsage.{one.shape}" if is_volume else one.shape
    return (one.account, one.region, what) == (sums.account, sums.region, sums.what)


def _longest(
    mine: Sequence[Trace], hours: Callable[[UsageInterval], timedelta]
) -> list[Trace]:
    """Return each resource once, by its longest interval."""
    found: dict[str, Trace] = {}
    for one in sorted(mine, key=lambda one: hours(one.interval)):
        found[one.interval.resource_id] = one
    return [*found.values()]


def _with(
    item: UntaggedItem,
    resources: tuple[UntaggedResource, ...],
    found: Mapping[str, tuple[Suggestion, ...]],
) -> UntaggedItem:
    jobs = {one.suggestion.job if one.suggestion else "" for one in resources}
    if len(jobs) > 1:
        return replace(item, resources=resources, unknown=SEVERAL)
    weakest = min(
        (one.suggestion for one in resources if one.suggestion),
        key=lambda one: one.score,
        default=None,
    )
    others: dict[str, Suggestion] = {}
    for several in found.values():
        for one in several:
            if weakest is None or one.job != weakest.job:
                others.setdefault(one.job, one)
    return replace(
        item,
        resources=resources,
        suggestion=weakest,
        others=tuple(sorted(others.values(), key=lambda one: (-one.score, one.job)))[
            :3
        ],
        unknown="" if weakest else (_tie(others) or NO_SIGN),
    )


def _tie(others: Mapping[str, Suggestion]) -> str:
    names = sorted(others)
    return f"{' and '.join(names[:3])} fit equally well" if len(names) > 1 else ""
