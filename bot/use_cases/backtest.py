"""Past facts out of the ledger, hour by hour, for replaying policies.

What ran, with which tags, is known to the second; what a job had cost by an hour is its
days before, and the day's own cost spread evenly; how busy its GPUs were is an hourly
mean, where it was measured. Nothing is asked of AWS.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import accumulate

from billing.core.attribution import TagKeys, belongings
from billing.core.charges import BUCKET_PREFIX
from billing.core.fleet import Instance, InstanceState
from billing.core.gpus import gpu_count
from billing.core.money import Money, Rate
from billing.core.periods import Period, day_of, month_start, start_of
from billing.core.usage import ResourceKind, TagSpan, UsageInterval
from billing.ports import BillLedger, MetricSeries
from billing.ports.progress import HourOfUse
from bot.use_cases.held_now import burn_of
from bot.use_cases.parts import CostQuestion, gather, parts_by
from bot.use_cases.pricing import PriceBook
from policies.core.facts import Facts, InstanceFacts, JobFacts, TeamMonth

STEP = timedelta(hours=1)
HOUR_S = 3600
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Everything read for a replay, once.

    Attributes:
        tags: Spans by resource, in order of time.
        use: Hours of use by resource, in order of time.
        spent / team_spent: Cost by job, and by team.
    """

    period: Period
    keys: TagKeys
    prices: PriceBook
    intervals: Sequence[UsageInterval]
    tags: Mapping[str, Sequence[TagSpan]]
    use: Mapping[str, Sequence[HourOfUse]]
    spent: Mapping[str, Spending]
    team_spent: Mapping[str, Spending]
    budgets: Mapping[str, Money]
    currency: str
    _rates: dict[tuple[str, ...], Rate | None] = field(default_factory=dict)

    def rate(self, one: UsageInterval) -> Rate | None:
        """Return what one instance costs per hour, at today's price."""
        key = (one.shape, one.region, one.zone, one.lifecycle.value)
        if key not in self._rates:
            self._rates[key] = burn_of([one], self.prices)
        return self._rates[key]


def read_past(
    ledger: BillLedger,
    period: Period,
    *,
    prices: PriceBook,
    keys: TagKeys,
    budgets: Mapping[str, Money],
    now: datetime,
) -> Past:
    """Read what a replay over a period needs."""
    intervals = [
        one for one in ledger.intervals(period) if one.kind is ResourceKind.INSTANCE
    ]
    ids = sorted({one.resource_id for one in intervals})
    tags: dict[str, list[TagSpan]] = defaultdict(list)
    for span in ledger.tags(ids):
        tags[span.resource_id].append(span)
    use: dict[str, list[HourOfUse]] = defaultdict(list)
    for hour in ledger.hours_of_use(ids, period):
        use[hour.resource_id].append(hour)
    records = ledger.job_records()
    first = min((one.first_seen_at for one in records), default=period.start)
    since = min(day_of(first), month_start(day_of(period.start)))
    teams = {one.job: one.team.lower() for one in records if one.team}
    by_job, by_team = _spent(ledger, since, teams, prices=prices, keys=keys, now=now)
    return Past(
        period=period,
        keys=keys,
        prices=prices,
        intervals=intervals,
        tags=tags,
        use=use,
        spent=by_job,
        team_spent=by_team,
        budgets={team.lower(): amount for team, amount in budgets.items()},
        currency=prices.currency,
    )


def _spent(
    ledger: BillLedger,
    since: date,
    teams: Mapping[str, str],
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> tuple[Mapping[str, Spending], Mapping[str, Spending]]:
    """Return cost by job and by team, billed and provisional, before credits."""
    question = CostQuestion(since=since, by="job")
    read = gather(ledger, question, prices=prices, keys=keys, now=now)
    by_job: dict[str, dict[date, int]] = defaultdict(lambda: defaultdict(int))
    by_team: dict[str, dict[date, int]] = defaultdict(lambda: defaultdict(int))
    for part in parts_by(read, question, "job"):
        if part.is_credit or part.key.startswith(BUCKET_PREFIX):
            continue
        by_job[part.key][part.day] += part.amount.nanos
        if part.key in teams:
            by_team[teams[part.key]][part.day] += part.amount.nanos
    return (
        {job: Spending(days) for job, days in by_job.items()},
        {team: Spending(days) for team, days in by_team.items()},
    )


def moments(past: Past) -> Iterator[tuple[datetime, Facts]]:
    """Yield the facts of every full hour of the period, in order of time."""
    running = _Running(past)
    at = past.period.start
    while at <= past.period.end:
        yield at, _facts(past, running.at(at), at)
        at += STEP


class _Running:
    """What ran at an instant, moving forward in time."""

    def __init__(self, past: Past) -> None:
        self._waiting = sorted(past.intervals, key=lambda one: one.started_at)
        self._live: list[UsageInterval] = []
        self._next = 0

    def at(self, now: datetime) -> list[UsageInterval]:
        """Return what runs; call it with instants that never go back."""
        while self._next < len(self._waiting):
            one = self._waiting[self._next]
            if one.started_at > now:
                break
            self._live.append(one)
            self._next += 1
        self._live = [
            one for one in self._live if one.ended_at is None or one.ended_at > now
        ]
        return self._live


def _facts(past: Past, running: Sequence[UsageInterval], now: datetime) -> Facts:
    instances = tuple(_instance(past, one, now) for one in running)
    held: dict[str, list[InstanceFacts]] = defaultdict(list)
    for one in instances:
        if one.job:
            held[one.job].append(one)
    return Facts(
        currency=past.currency,
        instances=instances,
        jobs=tuple(_job(past, job, held[job], now) for job in sorted(held)),
        team_months=_months(past, now),
        today=day_of(now),
    )


def _instance(past: Past, one: UsageInterval, now: datetime) -> InstanceFacts:
    tags = {
        span.key: span.value
        for span in past.tags.get(one.resource_id, ())
        if span.valid_from <= now and (span.valid_to is None or span.valid_to > now)
    }
    owned = belongings(tags, past.keys)
    gpus = gpu_count(one.shape)
    return InstanceFacts(
        instance=Instance(
            resource_id=one.resource_id,
            account=one.account,
            region=one.region,
            zone=one.zone,
            instance_type=one.shape,
            lifecycle=one.lifecycle,
            state=InstanceState.RUNNING,
            launched_at=one.started_at,
            platform=one.platform,
            tenancy=one.tenancy,
            tags=tags,
        ),
        job=owned.job,
        team=owned.team,
        owner=owned.owner,
        environment=owned.environment,
        gpus=gpus,
        rate=past.rate(one),
        running_since=one.started_at,
        series=tuple(_series(past, one.resource_id, gpus, now)),
    )


def _series(
    past: Past, resource_id: str, gpus: int | None, now: datetime
) -> Iterator[MetricSeries]:
    """Yield the hourly mean of an instance as that of each of its GPUs."""
    hours = past.use.get(resource_id, ())
    last = bisect_right(hours, now - STEP, key=lambda one: one.hour)
    points = tuple(
        (one.hour + STEP, one.gpu_pct)
        for one in hours[max(0, last - 24) : last]
        if one.covered_s * 100 >= HOUR_S * 80
    )
    for part in range(gpus or 0):
        yield MetricSeries(
            resource_id=resource_id,
            signal="gpu_utilization",
            part=str(part),
            points=points,
            period_s=HOUR_S,
        )


def _job(
    past: Past, job: str, members: Sequence[InstanceFacts], now: datetime
) -> JobFacts:
    gpus = [one.gpus for one in members]
    rates = [one.rate for one in members]
    rate: Rate | None = None
    if None not in rates:
        rate = Rate(sum(one.nanos for one in rates if one), past.currency)
    return JobFacts(
        job=job,
        team=members[0].team,
        owner=members[0].owner,
        environment=members[0].environment,
        spent=Money(_up_to(past.spent, job, now), past.currency),
        rate=rate,
        predicted=None,
        instance_types=tuple(sorted({one.instance.instance_type for one in members})),
        instances=len(members),
        gpus=None if None in gpus else sum(one or 0 for one in gpus),
        since=None,
    )


class Spending:
    """What something cost by day, asked for up to any instant."""

    def __init__(self, days: Mapping[date, int]) -> None:
        self._days = sorted(days)
        self._sums = [0, *accumulate(days[day] for day in self._days)]

    def up_to(self, now: datetime, since: date | None = None) -> int:
        """Return nano-units: whole days, and the share of its own day that is over."""
        today = day_of(now)
        first = 0 if since is None else bisect_left(self._days, since)
        last = bisect_left(self._days, today)
        found = self._sums[max(first, last)] - self._sums[first]
        if last < len(self._days) and self._days[last] == today:
            own = self._sums[last + 1] - self._sums[last]
            found += own * ((now - start_of(today)) // SECOND) // (24 * HOUR_S)
        return found


def _months(past: Past, now: datetime) -> tuple[TeamMonth, ...]:
    since = month_start(day_of(now))
    return tuple(
        TeamMonth(
            team=team,
            since=since,
            spent=Money(_up_to(past.team_spent, team, now, since), past.currency),
            budget=past.budgets.get(team),
        )
        for team in sorted(past.team_spent.keys() | past.budgets.keys())
    )


def _up_to(
    known: Mapping[str, Spending], key: str, now: datetime, since: date | None = None
) -> int:
    return known[key].up_to(now, since) if key in known else 0


def whole_hours(since: date, now: datetime) -> Period:
    """Return the hours from a day to the last full hour."""
    end = now.replace(minute=0, second=0, microsecond=0)
    return Period(start_of(since), max(end, start_of(since)))
