"""Compare two runs: what they cost, what they got done, how well they scale."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from billing.core.attribution import TagKeys, normalise_job
from billing.core.efficiency import scaling
from billing.core.errors import GpucostError
from billing.core.money import USD
from billing.core.periods import day_of
from billing.ports import BillLedger
from bot.use_cases.cost import UnknownJobError
from bot.use_cases.efficiency import run_efficiency
from bot.use_cases.leaks import run_leaks
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import PriceBook
from bot.use_cases.run_read import read_run
from bot.views.efficiency import CompareAnswer, RunAnswer


class SameJobError(GpucostError, ValueError):
    """A run compared with itself says nothing."""

    code = "bad_usage"
    exit_code = 2
    hint = "name another job"

    def __init__(self, job: str) -> None:
        super().__init__(f"both jobs are {job!r}")


def ask_compare(
    ledger: BillLedger,
    jobs: tuple[str, str],
    question: CostQuestion,
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> CompareAnswer:
    """Compare two runs, each over its whole life or over the window asked for.

    Raises:
        SameJobError: They are one.
        UnknownJobError: With the nearest names.
    """
    first, second = (normalise_job(one) for one in jobs)
    if first == second:
        raise SameJobError(first)
    runs = [
        _run(ledger, replace(question, job=job), prices=prices, keys=keys, now=now)
        for job in (first, second)
    ]
    found, missing = scaling(runs[0].efficiency, runs[1].efficiency)
    return CompareAnswer(
        currency=ledger.currency() or USD,
        first=runs[0],
        second=runs[1],
        scaling=found,
        not_scaled=missing,
    )


def _run(
    ledger: BillLedger,
    question: CostQuestion,
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> RunAnswer:
    record = ledger.job_record(question.job)
    if record is None:
        raise UnknownJobError(question.job, ledger.job_names())
    since = question.since or day_of(record.first_seen_at)
    read = read_run(
        ledger, replace(question, since=since), prices=prices, keys=keys, now=now
    )
    return RunAnswer(
        efficiency=run_efficiency(read),
        report=run_leaks(read),
        since=read.period.start,
        until=read.period.end,
    )
