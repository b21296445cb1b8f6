"""Forecast the end of the month: everything, each team, or one job; and its budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction

from billing.core.attribution import TagKeys, normalise_job
from billing.core.charges import BUCKET_PREFIX, Source
from billing.core.forecast_month import HISTORY_DAYS, MonthForecast, forecast_month
from billing.core.money import USD, Money, Rate
from billing.core.periods import day_of, month_start, next_month, start_of
from billing.ports import BillLedger, Freshness
from billing.ports.estimates import FeeLedger
from bot.use_cases.cost import ask_cost
from bot.use_cases.estimate_history import past_of
from bot.use_cases.groups import Part
from bot.use_cases.parts import CostQuestion, Gathered, gather, parts_by
from bot.use_cases.pricing import PriceBook
from bot.views.outlook_answers import (
    BudgetState,
    ForecastAnswer,
    JobForecast,
    TeamForecast,
)

#: A job is taken to need this many times its planned hours.
PLANNED_FACTOR = Fraction(13, 10)


def ask_forecast(
    ledger: BillLedger,
    budgets: Mapping[str, Money],
    *,
    team: str = "",
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> ForecastAnswer:
    """Forecast the month of everything and of each team, or of one team."""
    since = day_of(now) - timedelta(days=HISTORY_DAYS)
    question = CostQuestion(since=min(since, month_start(day_of(now))))
    read = gather(ledger, question, prices=prices, keys=keys, now=now)
    parts = [one for one in parts_by(read, question, "team") if not one.is_credit]
    known = _known_until(read, parts, now)
    limits = {name.lower(): amount for name, amount in budgets.items()}
    series, fees = _series(parts), _fees(ledger, question.since, now)
    names = {one for one in series if one and not one.startswith(BUCKET_PREFIX)}
    wanted = {team.lower()} if team else names | set(limits)
    teams = tuple(
        _team(
            name,
            series.get(name, {}),
            known,
            limits.get(name),
            prices.currency,
            fees=fees.get(name, {}),
        )
        for name in sorted(wanted)
    )
    ranked = sorted(teams, key=_dearest)
    whole = _team(
        "", _summed(series.values()), known, None, prices.currency,
        fees=_summed(fees.values()),
    )  # fmt: skip
    scope = ranked[0] if team else whole
    return ForecastAnswer(
        currency=prices.currency,
        month=scope.forecast.month,
        as_of=now,
        scope=scope,
        teams=() if team else tuple(ranked),
    )


def _dearest(one: TeamForecast) -> tuple[int, str]:
    cost = one.forecast.expected or one.forecast.so_far
    return -cost.nanos, one.team


def _known_until(read: Gathered, parts: Sequence[Part], now: datetime) -> datetime:
    """Return up to when costs are known: now where the inventory watches.

    Where only the bill speaks, its last complete day is the last one that counts.
    """
    if any(_is_watching(one) for one in read.freshness):
        return now
    through = min(read.through.values(), default=None)
    if through is not None:
        return min(through, now)
    last = max((one.day for one in parts), default=day_of(now))
    return min(start_of(last) + timedelta(days=1), now)


def _is_watching(one: Freshness) -> bool:
    return one.source is Source.INVENTORY and one.as_of is not None


def _series(parts: Iterable[Part]) -> dict[str, dict[date, Money]]:
    sums: dict[str, dict[date, Money]] = {}
    for part in parts:
        days = sums.setdefault(part.key, {})
        before = days.get(part.day)
        days[part.day] = part.amount if before is None else before + part.amount
    return sums


def _fees(
    ledger: BillLedger, since: date | None, now: datetime
) -> dict[str, dict[date, Money]]:
    """Return what was paid at once for a longer time, by team and day."""
    if not isinstance(ledger, FeeLedger) or since is None:
        return {}
    currency = ledger.currency() or USD
    found: dict[str, dict[date, Money]] = {}
    fees = ledger.fees(since, day_of(now) + timedelta(days=1))
    teams = ledger.job_teams(sorted({fee.job for fee in fees if fee.job}))
    for fee in fees:
        key = teams.get(fee.job, "") if fee.job else f"{BUCKET_PREFIX}{fee.bucket}"
        days = found.setdefault(key, {})
        amount = Money(fee.nanos, currency)
        days[fee.day] = days[fee.day] + amount if fee.day in days else amount
    return found


def _summed(series: Iterable[Mapping[date, Money]]) -> dict[date, Money]:
    days: dict[date, Money] = {}
    for one in series:
        for day, cost in one.items():
            days[day] = days[day] + cost if day in days else cost
    return days


def _team(
    team: str,
    days: Mapping[date, Money],
    known: datetime,
    budget: Money | None,
    currency: str,
    *,
    fees: Mapping[date, Money],
) -> TeamForecast:
    found = forecast_month(days, known, currency=currency, fees=fees)
    state = None if budget is None else budget_state(found, budget)
    return TeamForecast(team=team, forecast=found, budget=state)


def budget_state(found: MonthForecast, budget: Money) -> BudgetState:
    """Return how a month stands to its budget."""
    expected = found.expected
    share = None if expected is None else _share(expected, budget)
    return BudgetState(
        amount=budget,
        used=_share(found.so_far, budget),
        expected=share,
        exceeded_on=_exceeded_on(found, budget),
    )


def _share(cost: Money, budget: Money) -> Fraction:
    return Fraction(cost.nanos, budget.nanos) if budget.nanos else Fraction(0)


def _exceeded_on(found: MonthForecast, budget: Money) -> date | None:
    """Return the day on which a budget is used up, if the rest comes evenly."""
    if budget < found.so_far:
        return day_of(found.known_until)
    if found.expected is None or found.expected <= budget:
        return None
    ends = start_of(next_month(found.month))
    rest = (found.expected - found.so_far).nanos
    share = Fraction((budget - found.so_far).nanos, rest)
    seconds = int((ends - found.known_until).total_seconds() * share)
    return day_of(found.known_until + timedelta(seconds=seconds))


def ask_job_forecast(
    ledger: BillLedger,
    job: str,
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> ForecastAnswer:
    """Forecast what a job will have cost at the end of the month.

    Raises:
        UnknownJobError: With the nearest names.
    """
    asked = CostQuestion(job=job)
    answer = ask_cost(ledger, asked, prices=prices, keys=keys, stale=(), now=now)
    name, spent = normalise_job(job), answer.total
    is_priced = not answer.provisional_unknown
    burn = answer.burn if is_priced else None
    ends, is_planned = _ends_at(ledger, name, answer.first_seen_at or now, now)
    month_end = start_of(next_month(month_start(day_of(now))))
    return ForecastAnswer(
        currency=prices.currency,
        month=month_start(day_of(now)),
        as_of=now,
        job=JobForecast(
            job=name, so_far=spent, burn=burn, ends_at=ends, is_planned=is_planned,
            expected=_after(spent, burn, now, ends),
            low=spent, high=_after(spent, burn, now, month_end),
        ),
    )  # fmt: skip


def _after(
    spent: Money, burn: Rate | None, now: datetime, until: datetime
) -> Money | None:
    if burn is None:
        return None
    return spent + burn.cost_of(max(until - now, timedelta()))


def _ends_at(
    ledger: BillLedger, job: str, began: datetime, now: datetime
) -> tuple[datetime, bool]:
    """Return when a job is expected to end, and whether its estimate says so."""
    month_end = start_of(next_month(month_start(day_of(now))))
    planned = next((one for one in past_of(ledger) if one.job == job), None)
    if planned is None:
        return month_end, False
    seconds = round(planned.hours * PLANNED_FACTOR * 3600)
    ends = began + timedelta(seconds=seconds)
    return (min(ends, month_end), True) if ends > now else (month_end, False)
