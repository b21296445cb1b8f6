"""List jobs with what they cost in a window and what they hold now."""

from __future__ import annotations

from datetime import datetime

from billing.core.attribution import TagKeys
from billing.core.money import Money
from billing.core.periods import utc
from billing.core.usage import MACHINES
from billing.ports import BillLedger
from bot.use_cases.groups import grouped
from bot.use_cases.held_now import HeldNow, held_now
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
    running = [one for one in ledger.open_intervals() if one.kind in MACHINES]
    held = held_now(ledger, running, keys, now)
    lines = []
    for record in ledger.job_records():
        mine = held.get(record.job)
        if record.job not in totals and mine is None:
            continue
        now_held = mine or HeldNow()
        known = totals.get(record.job, Money.zero(prices.currency))
        lines.append(
            JobLine(
                job=record.job,
                team=record.team,
                owner=record.owner,
                state="running" if mine else "ended",
                total=None if record.job in unknown else known,
                burn=now_held.burn(prices),
                instances=now_held.machines,
                gpus=now_held.gpus,
                since=utc(record.first_seen_at),
            )
        )
    return tuple(sorted(lines, key=_dearest_first))


def _dearest_first(line: JobLine) -> tuple[int, str]:
    return (-(line.total.nanos if line.total else 0), line.job)
