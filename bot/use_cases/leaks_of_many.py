"""Answer where the money of many jobs went: each job's leaks, and the buckets beside.

Every job is looked at on its own, the dearest first; those beyond a limit are told as
one line, so that the sum stays the whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from billing.core.attribution import TagKeys
from billing.core.charges import BUCKET_PREFIX, Bucket
from billing.core.leaks import Leak, LeakFound, LeakReport
from billing.core.money import Money
from billing.ports import BillLedger, Freshness
from bot.use_cases.cost import ask_cost
from bot.use_cases.groups import Part, grouped
from bot.use_cases.leaks import run_leaks
from bot.use_cases.parts import CostQuestion, gather, parts_by
from bot.use_cases.pricing import PriceBook
from bot.use_cases.run_read import read_run
from bot.views.leaks import LeakAnswer

#: Jobs looked at one by one.
JOBS_MAX = 50
OTHERS = "other jobs"
#: Buckets that are leaks by themselves.
_BUCKETS = {
    f"{BUCKET_PREFIX}{Bucket.IDLE}": Leak.IDLE,
    f"{BUCKET_PREFIX}{Bucket.COMMITMENT_UNUSED}": Leak.COMMITMENT,
}


def ask_leaks_of_many(
    ledger: BillLedger,
    question: CostQuestion,
    *,
    prices: PriceBook,
    keys: TagKeys,
    stale: Iterable[Freshness],
    now: datetime,
) -> LeakAnswer:
    """Answer where the money of everything that a question names went."""
    plain = replace(question, by="job")
    read = gather(ledger, plain, prices=prices, keys=keys, now=now)
    cost = ask_cost(
        ledger, plain, prices=prices, keys=keys, stale=tuple(stale), now=now
    )
    parts = [
        part
        for part in parts_by(read, plain, "job")
        if question.is_net or not part.is_credit
    ]
    jobs = [job for job in _dearest(parts) if ledger.job_record(job) is not None]
    reports = {
        job: run_leaks(
            read_run(
                ledger, replace(question, job=job), prices=prices, keys=keys, now=now
            )
        )
        for job in jobs[:JOBS_MAX]
    }
    told = [*_of_jobs(reports), *_of_rest(parts, reports)]
    report = _merged(reports, told, cost.currency, beyond=len(jobs[JOBS_MAX:]))
    return LeakAnswer(
        cost=replace(cost, by="leak", groups=grouped(told, is_net=True)),
        report=report,
        commitment_unused=Money.zero(cost.currency),
    )


def _is_bucket(key: str) -> bool:
    return not key or key.startswith(BUCKET_PREFIX)


def _dearest(parts: Iterable[Part]) -> list[str]:
    sums: dict[str, int] = defaultdict(int)
    for part in parts:
        if not _is_bucket(part.key):
            sums[part.key] += part.nanos
    return sorted(sums, key=lambda job: (-sums[job], job))


def _of_jobs(reports: Mapping[str, LeakReport]) -> Iterable[Part]:
    """Yield the parts of the jobs that were looked at, by what they were for."""
    for report in reports.values():
        for one in report.parts:
            yield Part(
                key=one.key, account=one.line.account, day=one.line.day,
                nanos=one.amount.nanos, currency=report.currency,
                is_open=one.line.is_open,
            )  # fmt: skip


def _of_rest(
    parts: Sequence[Part], reports: Mapping[str, LeakReport]
) -> Iterable[Part]:
    """Yield everything that is no looked-at job's, under its bucket's name."""
    for part in parts:
        if part.key in reports:
            continue
        leak = _BUCKETS.get(part.key)
        name = part.key.removeprefix(BUCKET_PREFIX) if _is_bucket(part.key) else OTHERS
        yield part._replace(key=leak.value if leak else name)


def _merged(
    reports: Mapping[str, LeakReport],
    told: Sequence[Part],
    currency: str,
    *,
    beyond: int,
) -> LeakReport:
    sums: dict[str, int] = defaultdict(int)
    for part in told:
        sums[part.key] += part.nanos
    return LeakReport(
        currency=currency,
        parts=(),
        leaks=tuple(_found(leak, reports, sums, currency, beyond) for leak in Leak),
    )


def _found(
    leak: Leak,
    reports: Mapping[str, LeakReport],
    sums: Mapping[str, int],
    currency: str,
    beyond: int,
) -> LeakFound:
    found = {
        job: next(one for one in report.leaks if one.leak is leak)
        for job, report in reports.items()
    }
    lacking = [job for job, one in found.items() if one.missing]
    costly = [
        (one.amount.nanos, job)
        for job, one in found.items()
        if one.amount and one.amount.nanos
    ]
    nanos = sums.get(leak.value, 0)
    missing = _missing(len(lacking), len(found), beyond)
    return LeakFound(
        leak=leak,
        amount=None if missing and not nanos else Money(nanos, currency),
        evidence=tuple(
            f"{job} {Money(part, currency)}"
            for part, job in sorted(costly, reverse=True)[:3]
        ),
        missing=missing if leak is not Leak.COMMITMENT else "",
    )


def _missing(lacking: int, looked_at: int, beyond: int) -> str:
    told = []
    if lacking:
        told.append(
            f"{lacking} of {looked_at} {'job' if looked_at == 1 else 'jobs'}, see each"
        )
    if beyond:
        told.append(f"{beyond} {'job' if beyond == 1 else 'jobs'} not looked at")
    return "; ".join(told)
