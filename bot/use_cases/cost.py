"""Answer what something has cost: billed up to billed-through, provisional after it.

Both never count for the same account and time: ``bot.use_cases.parts`` sees to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from billing.core.attribution import TagKeys, job_of, nearest, normalise_job
from billing.core.errors import GpucostError
from billing.core.gpus import gpu_count
from billing.core.money import USD, MixedCurrencyError, Money, Rate, total
from billing.core.periods import DAY, Period
from billing.core.priced import count_price_keys
from billing.core.usage import MACHINES, TagSpan, UsageInterval
from billing.ports import BillLedger, Freshness
from bot.use_cases.groups import Part, by_day, currency_of, grouped
from bot.use_cases.parts import (
    UNTAGGED,
    CostQuestion,
    Gathered,
    gather,
    parts_by,
    parts_of_key,
    unpriced_keys,
)
from bot.use_cases.pricing import PriceBook
from bot.views.answers import CostAnswer, CostGroup, RunningLine

SUGGESTIONS_MAX = 3


class UnknownJobError(GpucostError):
    """Neither the bill nor the fleet ever named this job."""

    code = "unknown_job"
    hint = "`gpucost jobs` lists the jobs there are"

    def __init__(self, job: str, known: Iterable[str]) -> None:
        super().__init__(f"no job {job!r} is known")
        self.job = job
        self.suggestions = nearest(job, known, SUGGESTIONS_MAX)


def ask_cost(
    ledger: BillLedger,
    question: CostQuestion,
    *,
    prices: PriceBook,
    keys: TagKeys,
    stale: Sequence[Freshness],
    now: datetime,
) -> CostAnswer:
    """Answer a question about cost out of one snapshot of the ledger.

    Raises:
        UnknownJobError: With the nearest names.
        NeedsExportError: The bill at hand cannot tell this dimension or metric.
    """
    job = normalise_job(question.job)
    record = ledger.job_record(job) if job else None
    if job and record is None:
        raise UnknownJobError(question.job, ledger.job_names())
    read = gather(ledger, question, prices=prices, keys=keys, now=now)
    dimension = question.by if question.by != "day" else ""
    parts = parts_by(read, question, dimension or ("category" if job else ""))
    sums = _sums(parts, read, is_net=question.is_net)
    return CostAnswer(
        currency=ledger.currency() or USD,
        metric=question.metric,
        since=read.period.start,
        until=read.period.end,
        as_of=now,
        total=sums.billed + sums.provisional,
        billed=sums.billed,
        provisional=sums.provisional,
        credits=sums.credits,
        billed_through=_relevant(read, parts, question),
        groups=_groups(parts, question, read),
        by=question.by,
        unattributed=None if job else _untagged(read, question),
        stale=tuple(stale),
        freshness=tuple(read.freshness),
        provisional_unknown=tuple(one.text for one in read.accrued.unknown),
        provisional_basis=read.basis,
        job=job,
        team=record.team if record else question.team,
        account=question.account,
        owner=record.owner if record else "",
        is_net=question.is_net,
        first_seen_at=record.first_seen_at if record else None,
        last_seen_at=record.last_seen_at if record else None,
        **(_job_part(read, question, parts, keys) if job else {}),  # type: ignore[arg-type] # mapped fields
    )


@dataclass(frozen=True, slots=True)
class _Sums:
    billed: Money
    provisional: Money
    credits: Money


def _sums(parts: Sequence[Part], read: Gathered, *, is_net: bool) -> _Sums:
    currency = read.ledger.currency() or USD
    sums = [0, 0]
    credited = 0
    for part in parts:
        if part.is_credit:
            credited += part.nanos
        if is_net or not part.is_credit:
            sums[part.is_open] += part.nanos
    if parts and currency_of(parts) != currency:
        raise MixedCurrencyError(currency, currency_of(parts))
    billed, provisional, credits_ = (
        Money(nanos, currency) for nanos in (*sums, credited)
    )
    return _Sums(billed, provisional, credits_)


def _relevant(
    read: Gathered, parts: Sequence[Part], question: CostQuestion
) -> Mapping[str, datetime]:
    """Return billed-through of the accounts that the answer is about."""
    accounts = {part.account for part in parts} | {
        one.account for one in read.intervals
    }
    return {
        account: through
        for account, through in read.through.items()
        if (account in accounts or not accounts) and question.account in {"", account}
    }


def _groups(
    parts: Sequence[Part], question: CostQuestion, read: Gathered
) -> tuple[CostGroup, ...]:
    if not question.by:
        return ()
    if question.by != "day":
        unpriced = unpriced_keys(read, question.by)
        return grouped(parts, is_net=question.is_net, unpriced=unpriced)
    days = [
        part._replace(key=part.day.isoformat())  # a NamedTuple's own
        for part in parts
    ]
    return tuple(
        sorted(grouped(days, is_net=question.is_net), key=lambda group: group.key)
    )


def _untagged(read: Gathered, question: CostQuestion) -> Money | None:
    if question.team:
        return None
    parts = parts_of_key(read, question, UNTAGGED)
    currency = read.ledger.currency() or USD
    return total((p.amount for p in parts if not p.is_credit), currency)


def _job_part(
    read: Gathered, question: CostQuestion, parts: Sequence[Part], keys: TagKeys
) -> dict[str, object]:
    if question.by not in {"", "category"}:
        parts = parts_by(read, question, "category")
    running = _running(read, question, keys)
    speed = burn_of(running, read.prices)
    return {
        "by_category": grouped(parts, unpriced=unpriced_keys(read, "category")),
        "by_day": by_day(parts),
        "running": running_lines(running, read.prices),
        "burn": speed,
        "forecast_24h": None if speed is None else speed.cost_of(DAY),
    }


def _running(
    read: Gathered, question: CostQuestion, keys: TagKeys
) -> list[UsageInterval]:
    """Return the instances that work for a job now, whatever the window asked for."""
    job = normalise_job(question.job)
    known, tags = read.intervals, read.tags
    if read.period.end != read.now:
        known = read.ledger.intervals(Period(read.now, read.now), job=job)
        tags = read.ledger.tags(sorted({one.resource_id for one in known}))
    holders = jobs_now(tags, keys)
    return [
        one
        for one in known
        if one.ended_at is None
        and one.kind in MACHINES
        and holders.get(one.resource_id) == job
        and question.account in {"", one.account}
    ]


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


def running_lines(
    running: Sequence[UsageInterval], prices: PriceBook
) -> tuple[RunningLine, ...]:
    """Count running instances by type, lifecycle and region."""
    kinds: dict[tuple[str, str, str], list[UsageInterval]] = {}
    for one in running:
        kinds.setdefault((one.shape, one.lifecycle.value, one.region), []).append(one)
    lines = []
    for (shape, lifecycle, region), members in sorted(kinds.items()):
        gpus, count = gpu_count(shape), sum(one.units for one in members)
        lines.append(
            RunningLine(
                instance_type=shape,
                lifecycle=lifecycle,
                region=region,
                count=count,
                gpus=None if gpus is None else gpus * count,
                rate=burn_of(members, prices),
            )
        )
    return tuple(lines)
