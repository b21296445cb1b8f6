"""The pieces of an answer about cost: billed cells and accrued ones, never both.

A day that is not complete counts from running time x price; where the inventory did not
watch that day, the bill so far may stand in for it, and is called provisional too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from operator import attrgetter

from billing.core.accrual import (
    Accrued,
    AccruedCell,
    Unpriced,
)
from billing.core.attribution import TagKeys, normalise_job
from billing.core.charges import (
    BUCKET_PREFIX,
    Bucket,
    Metric,
    Source,
)
from billing.core.periods import (
    Period,
    day_of,
    month_start,
    start_of,
)
from billing.core.priced import (
    category_of_product,
    pricing_of,
    pricing_of_purchase,
    service_of,
)
from billing.core.usage import ResourceKind, TagSpan, UsageInterval
from billing.ports import BillLedger, CostCellOfDay, Freshness, NeedsExportError
from bot.use_cases.bill_days import bill_days, days_of
from bot.use_cases.groups import Part
from bot.use_cases.prepaid import (
    Settled,
    accrue_prepaid,
    at_paid_share,
    fees_taken_out,
    merged,
    names_of,
)
from bot.use_cases.pricing import PriceBook
from bot.use_cases.running_time import (
    accrue_open,
    jobs_in,
    of_question,
    open_time,
    tags_of,
    unbilled_part,
)

EC2_SERVICE = service_of(ResourceKind.INSTANCE)
#: The key of what no job can be named for.
UNTAGGED = f"{BUCKET_PREFIX}{Bucket.UNTAGGED}"
#: Group of days that came from Cost Explorer, which names no service.
UNKNOWN_SERVICE = "unknown"


class NoListCostError(NeedsExportError):
    """Public prices of what was used are not in the bill at hand."""

    hint = "ask for effective or billed cost instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class CostQuestion:
    """What somebody asks.

    Attributes:
        job / team / account: Filters; "" for none.
        by: A dimension to break down by; "" for none.
        since / until: UTC billing days, half-open; None: the current month up to now.
        is_net: Credits and refunds included.
    """

    job: str = ""
    team: str = ""
    account: str = ""
    by: str = ""
    since: date | None = None
    until: date | None = None
    metric: Metric = Metric.EFFECTIVE
    is_net: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Everything read for one window and filter, once.

    Attributes:
        bill_days: ``(account, day)`` not complete and not watched: the bill so far counts.
        tags: History of the job tags of the intervals' resources and their parents.
        basis: How accrued cost was priced where that is not the public price.
    """

    ledger: BillLedger
    period: Period
    through: Mapping[str, datetime]
    freshness: Sequence[Freshness]
    bill_days: frozenset[tuple[str, date]]
    accrued: Accrued
    intervals: Sequence[UsageInterval]
    tags: Sequence[TagSpan]
    prices: PriceBook
    teams: Mapping[str, str]
    now: datetime
    basis: tuple[str, ...] = ()

    @property
    def days(self) -> tuple[date, date]:
        """Return the billing days of the window, half-open."""
        return days_of(self.period)


def window(question: CostQuestion, now: datetime) -> Period:
    """Return the window asked for: by default the current UTC month up to now."""
    since = question.since or month_start(day_of(now))
    end = now if question.until is None else min(start_of(question.until), now)
    start = start_of(since)
    return Period(start, max(start, end))


def gather(
    ledger: BillLedger,
    question: CostQuestion,
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> Gathered:
    """Read what a window and its filter need, once."""
    period = window(question, now)
    through, freshness = ledger.billed_through(), ledger.freshness()
    unbilled = unbilled_part(freshness, period, through)
    job = normalise_job(question.job)
    intervals = ledger.intervals(unbilled, job=job or None)
    if question.account:
        intervals = [one for one in intervals if one.account == question.account]
    tags = tags_of(ledger, intervals, keys)
    open_days = bill_days(ledger, freshness, period, through, now)
    counted = open_time(intervals, period, open_days, now)
    accrued = accrue_open(
        ledger, counted, tags, period,
        through=through, prices=prices, keys=keys, now=now,
    )  # fmt: skip
    paid = at_paid_share(ledger, accrued, prices, now)
    spread = _spread(
        ledger, question, intervals, period, prices=prices, keys=keys, now=now
    )
    teams = {} if job else ledger.job_teams(jobs_in(accrued, spread.accrued))
    return Gathered(
        ledger=ledger, period=period, through=through, freshness=freshness,
        bill_days=open_days,
        accrued=merged(
            of_question(
                paid.accrued, job=job, team=question.team, teams=teams,
                bill_days=open_days,
            ),
            of_question(spread.accrued, job=job, team=question.team, teams=teams),
        ),
        basis=(*paid.basis, *spread.basis), intervals=intervals, tags=tags,
        prices=prices, teams=teams, now=now,
    )  # fmt: skip


def _spread(
    ledger: BillLedger,
    question: CostQuestion,
    intervals: Sequence[UsageInterval],
    period: Period,
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> Settled:
    """Spread fees over hours where effective cost is asked for."""
    if question.metric is not Metric.EFFECTIVE:
        return Settled(accrued=Accrued())
    return accrue_prepaid(
        ledger, intervals, period,
        job=normalise_job(question.job), account=question.account,
        prices=prices, keys=keys, now=now,
    )  # fmt: skip


def parts_by(read: Gathered, question: CostQuestion, by: str) -> list[Part]:
    """Return the pieces of an answer keyed by a dimension, billed and provisional."""
    since, until = read.days
    cells = read.ledger.cells(
        by,
        since,
        until,
        job=normalise_job(question.job) or None,
        team=question.team or None,
        account=question.account or None,
    )
    billed = _billed(cells, read, question.metric, by)
    # List cost of running time is its price before the organisation's discounts; the
    # accrual holds the organisation's own, so no list figure is claimed for it.
    if question.metric is Metric.LIST and read.accrued.cells:
        raise NoListCostError("list cost of days that are not billed yet is not known")
    is_by_service = by == "service" and bool(read.accrued.cells)
    if is_by_service and not read.ledger.stored_days(Source.EXPORTS, since, until):
        # Names of services are those of exports: without any, there are none to use.
        raise NeedsExportError("days that are not billed yet cannot be told by service")
    accrued = [_accrued(cell, read, by) for cell in read.accrued.cells]
    return [*billed, *_spread_fees(read, question, by), *accrued]


def parts_of_key(read: Gathered, question: CostQuestion, key: str) -> list[Part]:
    """Return the pieces of one job or bucket, as `parts_by` has them by job."""
    cells = read.ledger.cells(
        "job", *read.days, job=key, account=question.account or None
    )
    accrued = [_accrued(cell, read, "job") for cell in read.accrued.cells]
    return [
        *_billed(cells, read, question.metric, "job"),
        *(part for part in (*_spread_fees(read, question, "job"), *accrued)
          if part.key == key),
    ]  # fmt: skip


def _spread_fees(read: Gathered, question: CostQuestion, by: str) -> list[Part]:
    """Take fees that are spread over hours off the days on which they were billed."""
    if question.metric is not Metric.EFFECTIVE:
        return []
    lines = fees_taken_out(
        read.ledger, *read.days, through=read.through, bill_days=read.bill_days,
        key=normalise_job(question.job), account=question.account,
    )  # fmt: skip
    if not lines:
        return []
    jobs = {line.key for line, _ in lines}
    read = replace(read, teams={**read.teams, **read.ledger.job_teams(jobs)})
    return [
        Part(
            (names_of(line) | {"team": _team_key(read, line.key)}).get(by, ""),
            line.account, line.day, -line.effective.nanos, line.effective.currency,
            is_open,
        )
        for line, is_open in lines
        if question.team in {"", read.teams.get(line.key, "")}
    ]  # fmt: skip


def _billed(
    cells: Sequence[CostCellOfDay], read: Gathered, metric: Metric, by: str
) -> list[Part]:
    """Return what the bill says of complete days, and of days it stands in for."""
    nanos_of = _NANOS[metric]
    complete_before = {account: end.date() for account, end in read.through.items()}
    unnamed = UNKNOWN_SERVICE if by == "service" else ""
    parts = []
    for cell in cells:
        account, day = cell.account, cell.day
        is_open = day >= complete_before.get(account, date.min)
        if is_open and (account, day) not in read.bill_days:
            continue
        nanos = nanos_of(cell)
        if nanos is None:
            message = f"the bill of {day} that is stored does not tell list cost"
            raise NoListCostError(message)
        parts.append(
            Part(
                cell.key or unnamed, account, day, nanos, cell.currency, is_open,
                cell.is_credit,
            )
        )  # fmt: skip
    return parts


_NANOS: Mapping[Metric, Callable[[CostCellOfDay], int | None]] = {
    Metric.BILLED: attrgetter("billed_nanos"),
    Metric.EFFECTIVE: attrgetter("effective_nanos"),
    Metric.LIST: attrgetter("list_nanos"),
}


def _accrued(cell: AccruedCell, read: Gathered, by: str) -> Part:
    key = cell.key
    names = {
        "": "",
        "job": _job_key(key.job),
        "team": _team_key(read, key.job),
        "category": key.cost_category.value,
        "account": key.account,
        "region": key.region,
        "purchase": pricing_of(key.lifecycle).value,
        "service": service_of(key.kind),
    }
    if by not in names:
        raise NeedsExportError(f"days that are not billed yet cannot be told by {by}")
    return Part(
        key=names[by],
        account=key.account,
        day=key.day,
        nanos=cell.amount.nanos,
        currency=cell.amount.currency,
        is_open=True,
    )


def unpriced_keys(read: Gathered, by: str) -> frozenset[str]:
    """Return the keys of a dimension that hold running time without a known price."""

    def key_of(one: Unpriced) -> str | None:
        names = {
            "job": _job_key(one.job),
            "team": _team_key(read, one.job),
            "category": category_of_product(one.product),
            "region": one.region,
            "purchase": pricing_of_purchase(one.purchase),
        }
        return names.get(by)

    keys = {key_of(one) for one in read.accrued.unknown}
    return frozenset(str(key) for key in keys if key is not None)


def _job_key(job: str) -> str:
    return job or UNTAGGED


def _team_key(read: Gathered, job: str) -> str:
    is_job = job != "" and not job.startswith(BUCKET_PREFIX)
    return read.teams.get(job, "") if is_job else _job_key(job)
