"""A replay of policies over one application's ledger."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from billing.core.periods import Period
from bot.use_cases.backtest import STEP, moments, read_past, whole_hours
from bot.use_cases.pricing import price_book
from bot.wiring.application import Application
from bot.wiring.parts import own_prices, tag_keys
from policies.core.backtest import Replay, replay
from policies.core.catalogue import Policy


def run_backtest(
    application: Application, policies: Sequence[Policy], since: date
) -> tuple[tuple[Replay, ...], Period]:
    """Replay policies from a day to the last full hour; nothing is asked of AWS."""
    settings, now = application.settings, application.now()
    period = whole_hours(since, now)
    budgets = {
        name: team.budget
        for name, team in settings.config.teams.items()
        if team.budget is not None
    }
    with application.store.read() as unit:
        past = read_past(
            unit.ledger,
            period,
            prices=price_book(unit.ledger, own_prices(settings)),
            keys=tag_keys(settings),
            budgets=budgets,
            now=now,
        )
        return replay(policies, moments(past), STEP), period
