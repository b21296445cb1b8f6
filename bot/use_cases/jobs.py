"""List jobs with what they cost in a window and what they hold now."""

from __future__ import annotations

from datetime import datetime

from billing.core.attribution import TagKeys
from billing.core.gpus import gpu_count
from billing.core.money import Money
from billing.core.periods import utc
from billing.core.usage import MACHINES, UsageInterval
from billing.ports import BillLedger
from bot.use_cases.cost import burn_of, jobs_now
from bot.use_cases.groups import grouped
from bot.use_cases.parts import CostQuestion, gather, parts_by
from bot.use_cases.pricing import PriceBook
from bot.views.answers import JobLine


def job_lines(
    ledger: BillLedger,
    question: CostQuestion,
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> tuple[JobLine, ...]:
    """Return jobs that cost something in the window or run now, dearest first."""
    read = gather(ledger, question, prices=prices, keys=keys, now=now)
    totals = {
        group.key: group.total for group in grouped(parts_by(read, question, "job"))
    }
    unknown = {one.job for one in read.accrued.unknown}
    held = _held(ledger, keys)
    lines = []
    for record in ledger.job_records():
        mine = held.get(record.job, [])
        if record.job not in totals and not mine:
            continue
        gpus = [(gpu_count(one.shape), one.units) for one in mine]
        known = totals.get(record.job, Money.zero(prices.currency))
        lines.append(
            JobLine(
                job=record.job,
                team=record.team,
                owner=record.owner,
                state="running" if mine else "ended",
                total=None if record.job in unknown else known,
                burn=burn_of(mine, prices),
                instances=sum(one.units for one in mine),
                gpus=_total(gpus),
                since=utc(record.first_seen_at),
            )
        )
    return tuple(sorted(lines, key=_dearest_first))


def _total(gpus: list[tuple[int | None, int]]) -> int | None:
    """Return how many accelerators there are in all; None when any is not known."""
    if any(each is None for each, _ in gpus):
        return None
    return sum((each or 0) * units for each, units in gpus)


def _dearest_first(line: JobLine) -> tuple[int, str]:
    return (-(line.total.nanos if line.total else 0), line.job)


def _held(ledger: BillLedger, keys: TagKeys) -> dict[str, list[UsageInterval]]:
    """Return running instances by the job that their tags name now."""
    running = [one for one in ledger.open_intervals() if one.kind in MACHINES]
    holders = jobs_now(ledger.tags(sorted({one.resource_id for one in running})), keys)
    held: dict[str, list[UsageInterval]] = {}
    for one in running:
        job = holders.get(one.resource_id, "")
        if job:
            held.setdefault(job, []).append(one)
    return held
