"""Answer what something has cost: billed up to billed-through, provisional after it.

Both never count for the same account and time: ``bot.use_cases.parts`` sees to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from billing.core.attribution import TagKeys, nearest, normalise_job
from billing.core.errors import GpucostError
from billing.core.gpus import gpu_count
from billing.core.money import USD, MixedCurrencyError, Money, total
from billing.core.periods import DAY, Period
from billing.core.usage import MACHINES, UsageInterval
from billing.ports import BillLedger, Freshness
from bot.use_cases.groups import Part, by_day, currency_of, grouped
from bot.use_cases.held_now import HeldNow, burn_of, held_now
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
    held = _held(read, question, keys)
    running = [*held.whole, *(one for one, _ in held.shares)]
    speed = held.burn(read.prices)
    return {
        "by_category": grouped(parts, unpriced=unpriced_keys(read, "category")),
        "by_day": by_day(parts),
        "running": running_lines(running, read.prices),
        "burn": speed,
        "forecast_24h": None if speed is None else speed.cost_of(DAY),
    }


def _held(read: Gathered, question: CostQuestion, keys: TagKeys) -> HeldNow:
    """Return the machines that work for a job now, whatever the window asked for."""
    job = normalise_job(question.job)
    is_now = read.period.end == read.now
    known = (
        read.intervals
        if is_now
        else read.ledger.intervals(Period(read.now, read.now), job=job)
    )
    running = [
        one
        for one in known
        if one.ended_at is None
        and one.kind in MACHINES
        and question.account in {"", one.account}
    ]
    held = held_now(
        read.ledger, running, keys, read.now, tags=read.tags if is_now else None
    )
    return held.get(job, HeldNow())


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
