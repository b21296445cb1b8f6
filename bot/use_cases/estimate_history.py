"""Estimates kept on record, and runs that are over, read to judge them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.estimate import Estimate
from billing.core.estimate_history import (
    FinishedRun,
    PastEstimate,
    Score,
    score,
)
from billing.core.estimate_ways import run_cost
from billing.core.money import USD, total
from billing.core.periods import DAY, Period, day_of
from billing.core.usage import ResourceKind, UsageInterval
from billing.ports import BillLedger, JobRecord
from billing.ports.estimates import EstimateLedger

#: Runs read in one go; the rest come next time.
RUNS_AT_ONCE = 200
#: Bills are restated for a while: a run's cost is read again until it is this old.
SETTLED_AFTER = timedelta(days=45)
READ_AGAIN_AFTER = timedelta(hours=20)


def on_record(found: Estimate, now: datetime, *, request_id: str = "") -> PastEstimate:
    """Return an answer as it is kept."""
    plan = found.request
    return PastEstimate(
        estimate_id=0,
        job=plan.job,
        instance_type=plan.instance_type,
        count=plan.count,
        hours=plan.hours,
        purchase=plan.purchase,
        region=plan.region,
        base=run_cost(found.yours, plan.count, plan.hours),
        low=found.low,
        expected=found.expected,
        high=found.high,
        made_at=now,
        request_id=request_id,
    )


def read_finished(ledger: BillLedger, now: datetime) -> tuple[FinishedRun, ...]:
    """Return runs that are over and billed and are not on record as they are now."""
    if not isinstance(ledger, EstimateLedger):
        return ()
    through = min(ledger.billed_through().values(), default=None)
    if through is None:
        return ()
    known = ledger.finished_read_at()
    running = {one.resource_id for one in ledger.open_intervals()}
    due = [
        one
        for one in ledger.job_records()
        if one.last_seen_at <= through and _is_due(one, known.get(one.job), now)
    ]
    due.sort(key=lambda one: (one.last_seen_at, one.job), reverse=True)
    found = (_finished(ledger, one, running) for one in due[:RUNS_AT_ONCE])
    return tuple(one for one in found if one is not None)


def _is_due(
    record: JobRecord, known: tuple[datetime, datetime] | None, now: datetime
) -> bool:
    if known is None:
        return True
    ended, read = known
    is_settled = now - ended > SETTLED_AFTER
    return record.last_seen_at > ended or (
        not is_settled and now - read > READ_AGAIN_AFTER
    )


def _finished(
    ledger: BillLedger, record: JobRecord, running: set[str]
) -> FinishedRun | None:
    """Return a job as a finished run; None while it runs, or when it cost nothing."""
    span = Period(record.first_seen_at, record.last_seen_at + timedelta(seconds=1))
    held = [
        one
        for one in ledger.intervals(span, job=record.job)
        if one.kind is ResourceKind.INSTANCE
    ]
    if any(one.resource_id in running and one.ended_at is None for one in held):
        return None
    cells = ledger.cells(
        "",
        day_of(record.first_seen_at) - DAY,
        day_of(record.last_seen_at) + 2 * DAY,
        job=record.job,
    )
    cost = total(
        (one.effective for one in cells if not one.is_credit), ledger.currency() or USD
    )
    if cost.nanos <= 0:
        return None
    return FinishedRun(
        job=record.job,
        instance_type=_main_type(held),
        count=_most_at_once(held),
        hours=_hours(held, span),
        cost=cost,
        started_at=record.first_seen_at,
        finished_at=record.last_seen_at,
    )


def _main_type(held: Sequence[UsageInterval]) -> str:
    counted = Counter(one.shape for one in held)
    return min(counted, key=lambda shape: (-counted[shape], shape), default="")


def _most_at_once(held: Sequence[UsageInterval]) -> int:
    """Return the most instances of the main type that ran at one instant."""
    shape = _main_type(held)
    steps = sorted(
        step
        for one in held
        if one.shape == shape
        for step in ((one.started_at, 1), (one.ended_at or one.last_seen_at, -1))
    )
    now = most = 0
    for _, change in steps:
        now += change
        most = max(most, now)
    return most


def _hours(held: Sequence[UsageInterval], span: Period) -> Fraction:
    starts = [one.started_at for one in held] or [span.start]
    ends = [one.ended_at or one.last_seen_at for one in held] or [span.end]
    seconds = max(0, round((max(ends) - min(starts)).total_seconds()))
    return Fraction(seconds, 3600)


def past_of(ledger: object) -> Sequence[PastEstimate]:
    """Return past estimates where they are kept."""
    return ledger.past_estimates() if isinstance(ledger, EstimateLedger) else ()


def score_of(ledger: object) -> Score:
    """Return how good past estimates were."""
    return score(past_of(ledger))
