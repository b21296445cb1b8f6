"""Days that cost far more than they should: gpucost's own judgement, and AWS's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from billing.core.anomalies import (
    LOOKBACK,
    Anomaly,
    Explained,
    Rules,
    Watched,
    causes,
    judge,
    suspicious,
)
from billing.core.attribution import TagKeys
from billing.core.charges import BUCKET_PREFIX, Bucket
from billing.core.money import Money
from billing.core.periods import DAY, day_of
from billing.ports import BillLedger
from billing.ports.anomalies import AnomalyLedger
from billing.ports.estimates import FeeLedger
from bot.use_cases.groups import Part
from bot.use_cases.parts import CostQuestion, gather, parts_by
from bot.use_cases.pricing import PriceBook
from bot.views.outlook_answers import AnomalyAnswer

#: Days that are judged when nothing is said.
JUDGED = timedelta(days=7)
#: Tax, support, credits and what commitments leave over are nobody's work.
_APART = frozenset(
    f"{BUCKET_PREFIX}{bucket.value}"
    for bucket in (Bucket.OVERHEAD, Bucket.CREDITS, Bucket.COMMITMENT_UNUSED)
)
_UNTAGGED = f"{BUCKET_PREFIX}{Bucket.UNTAGGED.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnomalyQuestion:
    """What somebody asks; None: the last seven days that are over."""

    since: date | None = None
    until: date | None = None
    team: str = ""
    floor: Money | None = None


def ask_anomalies(
    ledger: BillLedger,
    question: AnomalyQuestion,
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> AnomalyAnswer:
    """Judge the days asked for, by team and by account."""
    until = min(question.until or day_of(now), day_of(now))
    since = min(question.since or until - JUDGED, until)
    rules = Rules() if question.floor is None else Rules(floor=question.floor)
    asked = CostQuestion(since=since - timedelta(days=LOOKBACK), until=until)
    read = gather(ledger, asked, prices=prices, keys=keys, now=now)
    parts = [
        part
        for part in parts_by(read, asked, "job")
        if not part.is_credit and part.key not in _APART
    ]
    jobs = {part.key for part in parts if not part.key.startswith(BUCKET_PREFIX)}
    teams = ledger.job_teams(sorted(jobs))
    found = _judged(
        ledger, _Sorted.of(parts, teams, question.team), since, until, rules
    )
    found = replace(found, currency=prices.currency, floor=rules.floor)
    if not isinstance(ledger, AnomalyLedger) or question.team:
        return found
    return replace(
        found,
        aws=tuple(ledger.aws_anomalies(since, until)),
        aws_read_at=ledger.aws_anomalies_read_at(),
    )


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Parts by series, each with its jobs."""

    series: Mapping[str, Sequence[Part]]
    teams: Mapping[str, str]

    @classmethod
    def of(cls, parts: Sequence[Part], teams: Mapping[str, str], team: str) -> _Sorted:
        series: dict[str, list[Part]] = {}
        for part in parts:
            for name in _names(part.key, part.account, teams, team.lower()):
                series.setdefault(name, []).append(part)
        return cls(series, teams)


def _names(
    key: str, account: str, teams: Mapping[str, str], only: str
) -> tuple[str, ...]:
    """Return the series that a part belongs to."""
    mine = teams.get(key, "")
    if only:
        return (f"team {mine}",) if mine == only else ()
    if key == _UNTAGGED:
        return ("without a job tag", f"account {account}")
    return (f"team {mine}" if mine else "jobs without a team", f"account {account}")


def _judged(
    ledger: BillLedger, sorted_: _Sorted, since: date, until: date, rules: Rules
) -> AnomalyAnswer:
    anomalies: list[Anomaly] = []
    explained: list[Explained] = []
    judged = 0
    first = min(
        (one.day for parts in sorted_.series.values() for one in parts), default=None
    )
    for name, parts in sorted(sorted_.series.items()):
        watched = _watched(name, parts, first)
        days = suspicious(watched, since, until, rules)
        if days:
            fees = _fees(ledger, name, sorted_.teams, days)
            watched = replace(watched, purchases=fees)
        found = judge(watched, since, until, rules)
        judged += found.judged_days
        explained += found.explained
        by_key = _by_key(parts)
        anomalies += [
            replace(one, causes=causes(by_key, one.day)) for one in found.anomalies
        ]
    anomalies.sort(key=lambda one: (-one.excess.nanos, one.day, one.series))
    return AnomalyAnswer(
        currency="", since=since, until=until, floor=rules.floor, judged=judged,
        anomalies=_once(anomalies), explained=_explained_once(explained),
    )  # fmt: skip


def _once(anomalies: Sequence[Anomaly]) -> tuple[Anomaly, ...]:
    """Tell a jump once: an account's is left out when one team's is the same day's."""
    told: list[Anomaly] = []
    for one in sorted(anomalies, key=lambda one: one.series.startswith("account ")):
        is_same = any(
            other.day == one.day
            and one.series.startswith("account ")
            and {cause.key for cause in one.causes[:1]}
            <= {cause.key for cause in other.causes}
            for other in told
        )
        if not is_same:
            told.append(one)
    return tuple(sorted(told, key=lambda one: (-one.excess.nanos, one.day, one.series)))


def _explained_once(explained: Sequence[Explained]) -> tuple[Explained, ...]:
    """Tell a fee once: an account's is left out when a team's is the same day's."""
    teams = {one.day for one in explained if not one.series.startswith("account ")}
    return tuple(
        one
        for one in explained
        if not (one.series.startswith("account ") and one.day in teams)
    )


def _watched(name: str, parts: Sequence[Part], first: date | None) -> Watched:
    days: dict[date, Money] = {}
    for part in parts:
        days[part.day] = (
            days[part.day] + part.amount if part.day in days else part.amount
        )
    return Watched(
        name=name,
        days=days,
        open_days=frozenset(part.day for part in parts if part.is_open),
        since=first,
    )


def _by_key(parts: Sequence[Part]) -> dict[str, dict[date, Money]]:
    found: dict[str, dict[date, Money]] = {}
    for part in parts:
        days = found.setdefault(part.key, {})
        days[part.day] = (
            days[part.day] + part.amount if part.day in days else part.amount
        )
    return found


def _fees(
    ledger: BillLedger, name: str, teams: Mapping[str, str], days: Sequence[date]
) -> dict[date, Money]:
    """Return the fees in a series around days that stand out."""
    if not isinstance(ledger, FeeLedger):
        return {}
    currency = ledger.currency() or "USD"
    found: dict[date, Money] = {}
    for fee in ledger.fees(min(days) - LOOKBACK * DAY, max(days) + DAY):
        key = fee.job or f"{BUCKET_PREFIX}{fee.bucket}"
        if key in _APART or name not in _names(key, fee.account, teams, ""):
            continue
        amount = Money(fee.nanos, currency)
        found[fee.day] = found[fee.day] + amount if fee.day in found else amount
    return found
