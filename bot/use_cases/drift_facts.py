"""What a job with grants holds and has used, as the fleet and the bill say it.

What was not seen lately, or has no price, is unknown and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.attribution import TagKeys, job_of, normalise_job
from billing.core.gpus import is_gpu_type
from billing.core.holdings import shares_of
from billing.core.money import Money
from billing.core.periods import Period
from billing.core.usage import TagSpan, UsageInterval
from bot.ports import UnitOfWork
from bot.use_cases.cost import ask_cost
from bot.use_cases.held_now import held_now
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import PriceBook
from policies.core.approvals import RequestState
from policies.core.drifting import Departure, Running, approved_by, departures
from policies.core.grants import Grant, grant_of

#: Instances that the inventory has not seen for longer may be gone.
SEEN_WITHIN = timedelta(minutes=15)
#: Approved requests that are looked at.
APPROVED_MAX = 1000
_MICROSECOND = timedelta(microseconds=1)
_PER_HOUR = 3_600_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNow:
    """One job with live grants, and how it left them.

    Attributes:
        machines: The GPU machines that run for it now.
    """

    job: str
    grants: tuple[Grant, ...]
    running: Running
    machines: tuple[UsageInterval, ...]
    departures: tuple[Departure, ...]


@dataclass(frozen=True, slots=True)
class Lookout:
    """Looks up in one unit of work what jobs with grants do."""

    unit: UnitOfWork
    prices: PriceBook
    keys: TagKeys

    def live(self, now: datetime) -> Mapping[str, tuple[Grant, ...]]:
        """Return the grants that hold now, by job."""
        approved = self.unit.journal.requests(
            state=RequestState.APPROVED, limit=APPROVED_MAX
        )
        found: dict[str, list[Grant]] = {}
        for one in map(grant_of, approved):
            if one is not None and one.not_before <= now < one.expires_at:
                found.setdefault(normalise_job(one.envelope.job), []).append(one)
        return {job: tuple(grants) for job, grants in found.items()}

    def look(self, job: str, grants: Sequence[Grant], now: datetime) -> JobNow:
        """Return how a job stands to its live grants."""
        approved = approved_by(grants)
        since = min((one.not_before for one in grants), default=now)
        intervals = self._gpu_intervals(job, since, now)
        machines, shares = self._held(job, intervals, now)
        running = Running(
            instances=shares,
            instance_hours=self._hours(job, intervals, Period(since, now)),
            cost=self.cost_since(job, since, now),
        )
        # A job that holds nothing now has ended, whatever it has used.
        left = departures(approved, running) if approved and machines else ()
        return JobNow(
            job=job, grants=tuple(grants), running=running, machines=machines,
            departures=left,
        )  # fmt: skip

    def cost_since(self, job: str, decided_at: datetime, now: datetime) -> Money | None:
        """Return what a job is known to have cost since the day of a decision.

        Bills know whole days, so that day itself, which may hold an earlier run, is left
        out: instance hours limit it.
        """
        record = self.unit.ledger.job_record(normalise_job(job))
        since = decided_at.date() + timedelta(days=1)
        if record is None or since > now.date():
            return None
        return ask_cost(
            self.unit.ledger,
            CostQuestion(job=record.job, since=since),
            prices=self.prices,
            keys=self.keys,
            stale=(),
            now=now,
        ).total

    def _gpu_intervals(
        self, job: str, since: datetime, now: datetime
    ) -> list[UsageInterval]:
        return [
            one
            for one in self.unit.ledger.intervals(Period(since, now), job=job)
            if is_gpu_type(one.shape)
        ]

    def _held(
        self, job: str, intervals: Iterable[UsageInterval], now: datetime
    ) -> tuple[tuple[UsageInterval, ...], Mapping[str, Fraction]]:
        """Return what a job holds now: its machines, and how many of each type."""
        seen = [
            one
            for one in intervals
            if one.ended_at is None and one.last_seen_at > now - SEEN_WITHIN
        ]
        held = held_now(self.unit.ledger, seen, self.keys, now).get(job)
        if held is None:
            return (), {}
        parts = [*((one, Fraction(1)) for one in held.whole), *held.shares]
        count: dict[str, Fraction] = {}
        for one, share in parts:
            count[one.shape] = count.get(one.shape, Fraction(0)) + one.units * share
        return tuple(one for one, _ in parts), count

    def _hours(
        self, job: str, intervals: Sequence[UsageInterval], period: Period
    ) -> Fraction:
        """Return the instance hours that a job held within a period."""
        spans = self.unit.ledger.tags(
            sorted({one.resource_id for one in intervals}), keys=self.keys.job
        )
        claims = self.unit.ledger.claims(intervals, spans, period)
        used = Fraction(0)
        for one in intervals:
            ran = _within(
                Period(one.started_at, one.ended_at or one.last_seen_at), period
            )
            if ran is None:
                continue
            if claims is None or not claims.concern(one):
                used += one.units * _tagged(job, one, spans, ran, self.keys)
                continue
            used += sum(
                (
                    one.units * (high - low) * _length(part)
                    for key, part, (low, high) in shares_of(one, ran, claims)
                    if key == job
                ),
                Fraction(0),
            )
        return used


def _tagged(
    job: str,
    interval: UsageInterval,
    spans: Iterable[TagSpan],
    ran: Period,
    keys: TagKeys,
) -> Fraction:
    """Return the hours of a machine while its tag named a job."""
    return sum(
        (
            _length(held)
            for span in spans
            if span.resource_id == interval.resource_id
            and job_of({span.key: span.value}, keys) == job
            and (held := _within(_span(span, ran), ran)) is not None
        ),
        Fraction(0),
    )


def _span(span: TagSpan, ran: Period) -> Period:
    ends = span.valid_to or max(ran.end, span.valid_from)
    return Period(min(span.valid_from, ends), ends)


def _within(one: Period, other: Period) -> Period | None:
    start, end = max(one.start, other.start), min(one.end, other.end)
    return Period(start, end) if start < end else None


def _length(period: Period) -> Fraction:
    return Fraction((period.end - period.start) // _MICROSECOND, _PER_HOUR)
