"""What each team has spent in the current calendar month, for budgets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from billing.core.attribution import TagKeys
from billing.core.charges import BUCKET_PREFIX
from billing.core.money import Money
from billing.core.periods import day_of, month_start
from billing.ports import BillLedger
from bot.use_cases.forecast import ask_forecast
from bot.use_cases.groups import grouped
from bot.use_cases.parts import CostQuestion, gather, parts_by, unpriced_keys
from bot.use_cases.pricing import PriceBook
from policies.core.facts import TeamMonth


def team_months(
    ledger: BillLedger,
    budgets: Mapping[str, Money],
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> tuple[TeamMonth, ...]:
    """Return the month so far of every team that spent or has a budget, by team.

    A part without a known price makes a team's spend unknown; so does an empty ledger.
    """
    since = month_start(day_of(now))
    question = CostQuestion(since=since, by="team")
    read = gather(ledger, question, prices=prices, keys=keys, now=now)
    unpriced = unpriced_keys(read, "team")
    spent = {
        group.key: None if group.key in unpriced else group.total
        for group in grouped(parts_by(read, question, "team"), unpriced=unpriced)
        if group.key and not group.key.startswith(BUCKET_PREFIX)
    }
    currency = ledger.currency()
    nothing = None if currency is None else Money.zero(currency)
    known = {team.lower(): amount for team, amount in budgets.items()}
    forecast = ask_forecast(ledger, budgets, prices=prices, keys=keys, now=now)
    expected = {one.team: one.forecast.expected for one in forecast.teams}
    return tuple(
        TeamMonth(
            team=team,
            since=since,
            spent=spent.get(team, nothing),
            forecast=expected.get(team),
            budget=known.get(team),
        )
        for team in sorted(spent.keys() | known.keys())
    )
