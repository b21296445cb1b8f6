"""Gather what policies know of the past days: starts of jobs, progress, unusual cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from billing.core.anomalies import Anomaly
from billing.core.attribution import TagKeys, belongings
from billing.core.gpus import gpu_count
from billing.core.money import Money, Rate
from billing.core.periods import Period
from billing.core.usage import ResourceKind, TagSpan, UsageInterval
from billing.ports import BillLedger
from bot.use_cases.anomalies import AnomalyQuestion, ask_anomalies
from bot.use_cases.pricing import PriceBook
from policies.core.facts import JobFacts, LaunchFacts

#: Machines of a job that came up within this time of the first came up together.
TOGETHER = timedelta(minutes=10)

RateOf = Callable[[UsageInterval], Rate | None]


def launches(
    ledger: BillLedger, since: datetime, *, keys: TagKeys, rate: RateOf, now: datetime
) -> tuple[LaunchFacts, ...]:
    """Return every start of a job's machines since an instant, by job, then time."""
    intervals = [
        one
        for one in ledger.intervals(Period(since, now))
        if one.kind is ResourceKind.INSTANCE and one.started_at >= since
    ]
    tags: dict[str, list[TagSpan]] = defaultdict(list)
    for span in ledger.tags(sorted({one.resource_id for one in intervals})):
        tags[span.resource_id].append(span)
    members: dict[str, list[UsageInterval]] = defaultdict(list)
    owners: dict[str, tuple[str, str]] = {}
    for one in sorted(intervals, key=lambda one: one.started_at):
        held = belongings(_tags_at(tags[one.resource_id], one), keys)
        if held.job:
            members[held.job].append(one)
            owners[held.job] = (held.team, held.owner)
    return tuple(
        _launch(job, owners[job], group, rate, now)
        for job in sorted(members)
        for group in _together(members[job])
    )


def _tags_at(spans: Sequence[TagSpan], one: UsageInterval) -> Mapping[str, str]:
    """Return the tags of a run: those at its end, or now."""
    return {
        span.key: span.value
        for span in spans
        if span.valid_to is None
        or (one.ended_at is not None and span.valid_to >= one.ended_at)
    }


def _together(intervals: Sequence[UsageInterval]) -> Iterator[list[UsageInterval]]:
    """Split runs in order of time into those that began together."""
    group: list[UsageInterval] = []
    for one in intervals:
        if group and one.started_at - group[0].started_at > TOGETHER:
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def _launch(
    job: str,
    owner: tuple[str, str],
    group: Sequence[UsageInterval],
    rate: RateOf,
    now: datetime,
) -> LaunchFacts:
    gpus = [gpu_count(one.shape) for one in group]
    ends = [one.ended_at for one in group]
    costs = [_cost(one, rate(one), now) for one in group]
    known = [cost for cost in costs if cost is not None]
    return LaunchFacts(
        job=job,
        team=owner[0],
        owner=owner[1],
        instances=len(group),
        gpus=None if None in gpus else sum(one or 0 for one in gpus),
        started_at=group[0].started_at,
        ended_at=None if None in ends else max(one for one in ends if one),
        cost=sum(known[1:], known[0]) if len(known) == len(costs) else None,
    )


def _cost(one: UsageInterval, rate: Rate | None, now: datetime) -> Money | None:
    if rate is None:
        return None
    return rate.cost_of(max((one.ended_at or now) - one.started_at, timedelta()))


def with_progress(ledger: BillLedger, jobs: Sequence[JobFacts]) -> tuple[JobFacts, ...]:
    """Attach when each job's counters last grew; a job that reports nothing has none."""
    return tuple(
        replace(job, progressed_at=progressed_at(ledger, job.job)) for job in jobs
    )


def progressed_at(ledger: BillLedger, job: str) -> datetime | None:
    """Return when any counter of a job last grew; None when it reports none."""
    last: datetime | None = None
    highest: dict[str, int] = {}
    for report in ledger.progress_reports(job):
        before = highest.get(report.counter.value)
        # A counter that fell belongs to a job that was resumed: it works again.
        if before is None or report.value != before:
            last = report.at if last is None else max(last, report.at)
        highest[report.counter.value] = report.value
    return last


def unusual_days(
    ledger: BillLedger, *, prices: PriceBook, keys: TagKeys, now: datetime
) -> tuple[tuple[Anomaly, ...], bool]:
    """Return the days that stand out of the last week, and whether any were judged."""
    found = ask_anomalies(ledger, AnomalyQuestion(), prices=prices, keys=keys, now=now)
    return tuple(found.anomalies), found.judged > 0
