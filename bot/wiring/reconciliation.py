"""Reconciliation as the command line and Slack ask for it."""

from __future__ import annotations

from datetime import date

from bot.use_cases.reconciliation import Reconciliation, reconciliation
from bot.wiring.application import Application
from bot.wiring.parts import own_prices, tag_keys


def reconciled(
    application: Application,
    *,
    since: date | None = None,
    until: date | None = None,
    job: str = "",
) -> Reconciliation:
    """Hold provisional cost against the bill, out of one snapshot."""
    settings = application.settings
    with application.store.read() as unit:
        return reconciliation(
            unit,
            since=since,
            until=until,
            job=job,
            own=own_prices(settings),
            keys=tag_keys(settings),
            now=application.now(),
        )
