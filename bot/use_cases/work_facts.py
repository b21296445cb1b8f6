"""Gather what running jobs paid for their work, and for traffic, out of the ledger."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from billing.core.attribution import TagKeys
from billing.core.money import Money
from billing.core.periods import day_of
from billing.ports import BillLedger
from billing.ports.charge_lines import ChargeFilter, ChargeSum
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.efficiency import run_efficiency
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import PriceBook
from bot.use_cases.run_read import read_run
from policies.core.facts import JobFacts, JobTransfer, JobWork

#: Sorts of traffic by usage type
#: (https://docs.aws.amazon.com/cur/latest/userguide/cur-data-transfers-charges.html).
_SORTS = (
    ("through NAT", re.compile(r"(?:^|-)NatGateway-(?:Bytes|Hours)$")),
    ("between zones", re.compile(r"(?:^|-)DataTransfer-(?:Regional|xAZ)")),
    ("between regions", re.compile(r"^[A-Z]{3}\d+-[A-Z]{3}\d+-AWS-(?:In|Out)-Bytes$")),
)


def sort_of(usage_type: str) -> str:
    """Return which traffic a usage type is about; "" when it is about none.

    >>> sort_of("USE1-USW2-AWS-Out-Bytes"), sort_of("USE1-DataTransfer-Regional-Bytes")
    ('between regions', 'between zones')
    >>> sort_of("BoxUsage:p5.48xlarge")
    ''
    """
    return next((name for name, like in _SORTS if like.search(usage_type)), "")


def work_of(
    ledger: BillLedger,
    jobs: Sequence[JobFacts],
    windows: Sequence[timedelta],
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> tuple[JobWork, ...]:
    """Return what a unit of work cost, of every running job that reports any."""
    reporting = [
        one.job for one in jobs if windows and ledger.progress_reports(one.job)
    ]
    return tuple(
        work
        for over in windows
        for job in reporting
        for work in _work(ledger, job, over, prices=prices, keys=keys, now=now)
    )


def _work(
    ledger: BillLedger,
    job: str,
    over: timedelta,
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> Iterator[JobWork]:
    question = CostQuestion(job=job, since=day_of(now - over))
    try:
        read = read_run(ledger, question, prices=prices, keys=keys, now=now)
    except UnknownJobError:
        return
    found = run_efficiency(read)
    lacking = "a part of its cost is unknown" if found.facts.is_at_least else ""
    for counter, work in found.work.items():
        yield JobWork(
            job=job,
            over=over,
            counter=counter.value,
            per_unit=None if lacking or work.is_at_most else work.per_unit,
            done=work.progress.useful,
            missing=work.missing
            or lacking
            or ("it was reported from the middle on" if work.is_at_most else ""),
        )


def transfers_of(
    ledger: BillLedger,
    jobs: Sequence[JobFacts],
    windows: Sequence[timedelta],
    *,
    now: datetime,
) -> tuple[JobTransfer, ...]:
    """Return what the bill of whole days says jobs paid for traffic, credits aside."""
    found = []
    for over in windows:
        since, until = day_of(now - over), day_of(now)
        for job in sorted({one.job for one in jobs}):
            lines = ledger.charge_sums(since, until, ChargeFilter(key=job))
            counted = [one for one in lines if not one.is_credit]
            if not counted:
                continue
            first, *rest = (one.effective for one in counted)
            found.append(
                JobTransfer(
                    job=job, over=over, since=since, until=until,
                    total=sum(rest, first), paid=_paid(counted),
                )
            )  # fmt: skip
    return tuple(found)


def _paid(lines: Sequence[ChargeSum]) -> Mapping[str, Money]:
    """Return what lines of the bill cost by sort of traffic."""
    paid: dict[str, Money] = {}
    for one in lines:
        sort = sort_of(one.usage_type)
        if sort:
            known = paid.get(sort)
            paid[sort] = one.effective if known is None else known + one.effective
    return dict(sorted(paid.items()))
