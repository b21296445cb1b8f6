"""Everything known of one run, read once: cost, time held, use, progress, bill lines.

A run is a job within a window. What was before the inventory began is known from the
bill alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from billing.core.attribution import TagKeys, normalise_job, split_by_job
from billing.core.charges import CostCategory, Metric
from billing.core.claims import ALL, Claims
from billing.core.completeness import is_complete
from billing.core.holdings import WHOLE, shares_of
from billing.core.leaks import CostLine
from billing.core.money import USD, Money, split
from billing.core.periods import Period
from billing.core.progress import Counter, Progress, progress_of
from billing.core.usage import ResourceKind, TagSpan, UsageInterval
from billing.ports import BillLedger
from billing.ports.charge_lines import ChargeFilter, ChargeSum
from billing.ports.progress import HourOfUse
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.groups import Part
from bot.use_cases.parts import CostQuestion, Gathered, gather, parts_by
from bot.use_cases.pricing import PriceBook
from bot.use_cases.stopped_volumes import stopped_of

_Cell = tuple[str, date, str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A span in which a run held an instance, or a share of it."""

    interval: UsageInterval
    period: Period
    share: Fraction = ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRead:
    """What is known of one run.

    Attributes:
        parts: Its cost by category, account and day; credits stand apart.
        sums: The lines of the bill behind its billed days.
        stopped: The share of its volumes that stopped instances had, by account and day.
    """

    job: str
    question: CostQuestion
    gathered: Gathered
    parts: Sequence[Part]
    sums: Sequence[ChargeSum]
    held: Sequence[Held]
    use: Sequence[HourOfUse]
    progress: Mapping[Counter, Progress]
    watched_since: Mapping[str, datetime]
    currency: str
    stopped: Mapping[tuple[str, date], Fraction] = field(default_factory=dict)

    @property
    def period(self) -> Period:
        """Return the window."""
        return self.gathered.period


def read_run(
    ledger: BillLedger,
    question: CostQuestion,
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> RunRead:
    """Read what is known of a run out of one snapshot of the ledger.

    Raises:
        UnknownJobError: With the nearest names.
    """
    job = normalise_job(question.job)
    if ledger.job_record(job) is None:
        raise UnknownJobError(question.job, ledger.job_names())
    gathered = gather(ledger, question, prices=prices, keys=keys, now=now)
    since, until = gathered.days
    period = gathered.period
    wanted = ChargeFilter(key=job, account=question.account)
    held = _held(ledger, job, question.account, period, keys=keys, now=now)
    ids = sorted({one.interval.resource_id for one in held})
    hours = Period(_hour(period.start), period.end)
    return RunRead(
        job=job,
        question=question,
        gathered=gathered,
        parts=parts_by(gathered, question, "category"),
        sums=[
            one for one in ledger.charge_sums(since, until, wanted) if not one.is_credit
        ],
        held=held,
        use=ledger.hours_of_use(ids, hours) if ids else (),
        progress=_progress(ledger, job, period),
        watched_since=ledger.watched_since(),
        currency=ledger.currency() or USD,
        stopped=stopped_of(ledger, job, question.account, period, keys=keys, now=now),
    )


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _held(
    ledger: BillLedger,
    job: str,
    account: str,
    period: Period,
    *,
    keys: TagKeys,
    now: datetime,
) -> list[Held]:
    """Return the spans in which a job held instances, or shares of them."""
    known = [
        one
        for one in ledger.intervals(period, job=job)
        if one.kind is ResourceKind.INSTANCE and account in {"", one.account}
    ]
    tags = ledger.tags(sorted({one.resource_id for one in known}), keys=keys.job)
    spans: dict[str, list[TagSpan]] = {}
    for span in tags:
        spans.setdefault(span.resource_id, []).append(span)
    claims = ledger.claims(known, tags, period)
    found: list[Held] = []
    for one in known:
        end = now if one.ended_at is None else one.ended_at
        ran = period.overlap(Period(one.started_at, max(end, one.started_at)))
        if ran is None:
            continue
        if claims is not None and claims.concern(one):
            found += _shares(one, ran, claims, job)
            continue
        parts = split_by_job(ran, spans.get(one.resource_id, []), keys)
        found += [
            Held(interval=one, period=part) for name, part in parts if name == job
        ]
    return found


def _shares(one: UsageInterval, ran: Period, claims: Claims, job: str) -> list[Held]:
    return [
        Held(
            interval=one, period=part, share=ALL if held is WHOLE else held[1] - held[0]
        )
        for key, part, held in shares_of(one, ran, claims)
        if key == job
    ]


def _progress(
    ledger: BillLedger, job: str, period: Period
) -> Mapping[Counter, Progress]:
    reports = [
        one
        for one in ledger.progress_reports(job)
        if period.start <= one.at <= period.end
    ]
    found = {
        counter: progress_of(one for one in reports if one.counter is counter)
        for counter in Counter
    }
    return {counter: one for counter, one in found.items() if one is not None}


# ------------------------------------------------------------------------------- lines


def cost_lines(read: RunRead) -> list[CostLine]:
    """Return a run's cost line by line; the lines sum to its total exactly.

    The parts say what counts; the bill's lines say what for. Where a rule gave or took
    something, the rest of a category has no usage type.
    """
    cells: dict[_Cell, int] = defaultdict(int)
    for part in read.parts:
        if not part.is_credit or read.question.is_net:
            cells[(part.account, part.day, part.key, part.is_open)] += part.amount.nanos
    billed: dict[tuple[str, date, str], list[ChargeSum]] = defaultdict(list)
    for one in read.sums:
        billed[(one.account, one.day, one.cost_category.value)].append(one)
    lines: list[CostLine] = []
    for (account, day, category, is_open), nanos in sorted(cells.items()):
        behind = billed.get((account, day, category), [])
        if not _is_of_bill(read, account, day):
            behind = []
        whole = CostLine(
            account=account, day=day, category=CostCategory(category),
            amount=Money(nanos, read.currency), is_open=is_open,
        )  # fmt: skip
        lines += _lines(whole, behind, read.question.metric)
    return lines


def _is_of_bill(read: RunRead, account: str, day: date) -> bool:
    """Tell whether a day counts as billed, or running time stands in for it."""
    is_stand_in = (account, day) in read.gathered.bill_days
    return is_stand_in or is_complete(account, day, read.gathered.through)


def _lines(
    whole: CostLine, behind: Sequence[ChargeSum], metric: Metric
) -> Iterable[CostLine]:
    amounts = [_amount(one, metric) for one in behind]
    spent, left = sum(amounts), whole.amount.nanos
    if spent > left or any(nanos < 0 for nanos in amounts):
        weights = [max(nanos, 0) for nanos in amounts]
        divided = split(whole.amount, weights)
        if divided is None:
            yield whole
            return
        amounts = [one.nanos for one in divided]
        spent = left
    for one, nanos in zip(behind, amounts, strict=True):
        yield CostLine(
            account=whole.account,
            day=whole.day,
            category=whole.category,
            amount=Money(nanos, whole.amount.currency),
            is_open=whole.is_open,
            usage_type=one.usage_type,
            region=one.region,
            quantity=_hours(one),
        )
    if spent != left:
        yield CostLine(
            account=whole.account,
            day=whole.day,
            category=whole.category,
            amount=Money(left - spent, whole.amount.currency),
            is_open=whole.is_open,
        )


def _amount(one: ChargeSum, metric: Metric) -> int:
    if metric is Metric.BILLED:
        return one.billed.nanos
    if metric is Metric.LIST and one.list_cost is not None:
        return one.list_cost.nanos
    return one.effective.nanos


def _hours(one: ChargeSum) -> Decimal | None:
    """Return a quantity that counts hours; None for any other."""
    return one.quantity if one.unit.lower() in {"hrs", "hours", "hour", "hr"} else None
