"""The digest of a week (or day, or month) of UTC billing days, sent once per channel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from billing.core.attribution import TagKeys
from billing.core.charges import BUCKET_PREFIX, Bucket
from billing.core.errors import GpucostError
from billing.core.money import Money, Rate, total
from billing.core.periods import (
    DAY,
    Period,
    day_of,
    next_month,
    previous_month,
    start_of,
)
from billing.core.usage import MACHINES
from billing.ports import Freshness, JobRecord
from bot.ports import OutboxMessage, Store, UnitOfWork
from bot.use_cases.groups import Part, by_day, grouped
from bot.use_cases.held_now import burn_of
from bot.use_cases.parts import (
    CostQuestion,
    Gathered,
    gather,
    parts_by,
)
from bot.use_cases.pricing import PriceBook
from bot.views.answers import DigestAnswer, Message, TopLine
from bot.views.digest_values import Mover
from policies.core.approvals import ApprovalRequest
from policies.core.finding import Finding

TOP_MAX = 5
WEEK = timedelta(days=7)
_WEEK_TEXT = re.compile(r"([0-9]{4})-W([0-9]{2})")


class BadWeekError(GpucostError, ValueError):
    """The week is not one of the ISO calendar."""

    code = "bad_week"
    exit_code = 2

    def __init__(self, text: str) -> None:
        super().__init__(f"week must be an ISO week such as 2026-W48, got {text!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestScope:
    """Which digest: a span of billing days, and a team or everything ("").

    Attributes:
        every: ``day``, ``week`` or ``month``.
        since: Its first day (a Monday, the first of a month).
    """

    since: date
    every: str = "week"
    team: str = ""

    @property
    def until(self) -> date:
        """Return the day after the span."""
        if self.every == "day":
            return self.since + DAY
        return next_month(self.since) if self.every == "month" else self.since + WEEK

    @property
    def before(self) -> date:
        """Return the first day of the span before."""
        if self.every == "day":
            return self.since - DAY
        if self.every == "month":
            return previous_month(self.since)
        return self.since - WEEK

    @property
    def label(self) -> str:
        """Return its name: ``2026-W48``, ``2026-11`` or ``2026-11-30``."""
        if self.every == "week":
            year, week, _ = self.since.isocalendar()
            return f"{year}-W{week:02d}"
        return (
            f"{self.since:%Y-%m}" if self.every == "month" else self.since.isoformat()
        )


def week_of(text: str) -> date:
    """Return the Monday of an ISO week.

    Raises:
        BadWeekError: It is no such week.
    """
    found = _WEEK_TEXT.fullmatch(text.strip())
    if found is None:
        raise BadWeekError(text)
    try:
        return date.fromisocalendar(int(found[1]), int(found[2]), 1)
    except ValueError as error:
        raise BadWeekError(text) from error


def last_week(now: datetime) -> date:
    """Return the Monday of the last whole week of UTC billing days."""
    today = day_of(now)
    return today - timedelta(days=today.weekday()) - WEEK


def last_whole(every: str, now: datetime, *, team: str = "") -> DigestScope:
    """Return the last day, week or month that is over (UTC billing days)."""
    if every == "week":
        return DigestScope(since=last_week(now), team=team)
    today = day_of(now)
    since = previous_month(today) if every == "month" else today - DAY
    return DigestScope(since=since, every=every, team=team)


def digest_answer(
    unit: UnitOfWork,
    scope: DigestScope,
    *,
    prices: PriceBook,
    keys: TagKeys,
    stale: Sequence[Freshness],
    now: datetime,
) -> DigestAnswer:
    """Gather one digest out of one snapshot."""
    ledger = unit.ledger
    question = CostQuestion(team=scope.team, since=scope.since, until=scope.until)
    earlier = replace(question, since=scope.before, until=scope.since)
    read = gather(ledger, question, prices=prices, keys=keys, now=now)
    before = gather(ledger, earlier, prices=prices, keys=keys, now=now)
    jobs, jobs_before = (
        parts_by(read, question, "job"),
        parts_by(before, earlier, "job"),
    )
    records = {one.job: one for one in ledger.job_records()}
    counted = [part for part in jobs if not part.is_credit]
    untagged = f"{BUCKET_PREFIX}{Bucket.UNTAGGED}"
    return DigestAnswer(
        label=scope.label,
        every=scope.every,
        since=scope.since,
        until=scope.until,
        currency=prices.currency,
        team=scope.team,
        total=total((part.amount for part in counted), prices.currency),
        billed=total((p.amount for p in counted if not p.is_open), prices.currency),
        provisional=total((p.amount for p in counted if p.is_open), prices.currency),
        credits=total((p.amount for p in jobs if p.is_credit), prices.currency),
        previous=_total_or_none(jobs_before, prices.currency),
        by_day=by_day(jobs),
        movers=_movers(jobs, jobs_before, prices.currency),
        by_category=grouped(parts_by(read, question, "category")),
        top_jobs=_top_jobs(jobs, jobs_before, records),
        top_teams=() if scope.team else _top_teams(read, before, question, earlier),
        untagged=None
        if scope.team
        else total((p.amount for p in counted if p.key == untagged), prices.currency),
        findings=_findings(unit, scope),
        approvals=_approvals(unit, scope),
        burn=None if scope.team else _burn(unit, prices),
        estimated_days=tuple(day for day, _, is_open in by_day(jobs) if is_open),
        stale=tuple(stale),
        notes=tuple(f"not priced: {one.text}" for one in read.accrued.unknown),
    )


def _burn(unit: UnitOfWork, prices: PriceBook) -> Rate | None:
    running = unit.ledger.open_intervals()
    return burn_of([one for one in running if one.kind in MACHINES], prices)


def _findings(unit: UnitOfWork, scope: DigestScope) -> tuple[Finding, ...]:
    return tuple(
        stored.finding
        for stored in unit.journal.open_findings()
        if not scope.team or stored.finding.team == scope.team
    )


def _total_or_none(parts: Sequence[Part], currency: str) -> Money | None:
    """Return the total before credits; None when the ledger holds nothing at all."""
    if not parts:
        return None
    return total((part.amount for part in parts if not part.is_credit), currency)


def _movers(
    parts: Sequence[Part], before: Sequence[Part], currency: str
) -> tuple[Mover, ...]:
    """Return what moved the total most; nothing without a span to compare with."""
    if not before:
        return ()
    then = {one.key: one.total for one in grouped(_charged(before))}
    now = {one.key: one.total for one in grouped(_charged(parts))}
    nothing = Money.zero(currency)
    moved = [
        Mover(
            key=key,
            moved=now.get(key, nothing) - then.get(key, nothing),
            is_new=key not in then,
        )
        for key in sorted(now.keys() | then.keys())
    ]
    moved.sort(key=lambda one: (-abs(one.moved.nanos), one.key))
    return tuple(moved[:TOP_MAX])


def _charged(parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if not part.is_credit]


def _top_jobs(
    parts: Sequence[Part], before: Sequence[Part], records: Mapping[str, JobRecord]
) -> tuple[TopLine, ...]:
    earlier = {group.key: group.total for group in grouped(before)}
    jobs = [
        group for group in grouped(parts) if not group.key.startswith(BUCKET_PREFIX)
    ]
    lines = []
    for group in jobs[:TOP_MAX]:
        record = records.get(group.key)
        lines.append(
            TopLine(
                key=group.key,
                total=group.total,
                previous=earlier.get(group.key),
                owner=record.owner if record else "",
                team=record.team if record else "",
            )
        )
    return tuple(lines)


def _top_teams(
    read: Gathered, before: Gathered, question: CostQuestion, earlier: CostQuestion
) -> tuple[TopLine, ...]:
    then = {
        group.key: group.total for group in grouped(parts_by(before, earlier, "team"))
    }
    now = grouped(parts_by(read, question, "team"))
    named = [one for one in now if one.key and not one.key.startswith(BUCKET_PREFIX)]
    return tuple(
        TopLine(key=one.key, total=one.total, previous=then.get(one.key))
        for one in named[:TOP_MAX]
    )


def _approvals(unit: UnitOfWork, scope: DigestScope) -> tuple[ApprovalRequest, ...]:
    span = Period(start_of(scope.since), start_of(scope.until))
    return tuple(
        one
        for one in unit.journal.requests()
        if (not scope.team or one.team == scope.team)
        and (one.created_at in span or (one.decided_at and one.decided_at in span))
    )


def queue_digest(
    store: Store,
    *,
    channel: str,
    scope: DigestScope,
    messages: Sequence[Message],
    now: datetime,
) -> bool:
    """Queue a digest, its details in its thread; False when it already went there."""
    first = f"digest:{channel}:{scope.label}:{scope.team}"
    with store.write() as unit:
        for index, message in enumerate(messages):
            stored = unit.outbox.put(
                OutboxMessage(
                    key=first if index == 0 else f"{first}:{index}",
                    kind="post",
                    channel=channel,
                    payload={"text": message.text, "blocks": [*message.blocks]},
                    thread_of="" if index == 0 else first,
                ),
                now,
            )
            if index == 0 and not stored:
                return False
    return True
