"""The month's forecast and the days that stood out, for a digest."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from billing.core.attribution import TagKeys
from billing.core.money import Money
from billing.ports import BillLedger
from bot.use_cases.anomalies import AnomalyQuestion, ask_anomalies
from bot.use_cases.digest import DigestScope
from bot.use_cases.forecast import ask_forecast
from bot.use_cases.pricing import PriceBook
from bot.views.outlook_answers import Outlook


def outlook_of(
    ledger: BillLedger,
    scope: DigestScope,
    budgets: Mapping[str, Money],
    *,
    prices: PriceBook,
    keys: TagKeys,
    now: datetime,
) -> Outlook | None:
    """Return what a digest of some days says of the month and of those days."""
    found = ask_forecast(
        ledger, budgets, team=scope.team, prices=prices, keys=keys, now=now
    ).scope
    if found is None:
        return None
    question = AnomalyQuestion(since=scope.since, until=scope.until, team=scope.team)
    odd = ask_anomalies(ledger, question, prices=prices, keys=keys, now=now)
    return Outlook(forecast=found, anomalies=odd)
