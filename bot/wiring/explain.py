"""Explaining figures over one application, for the command line and Slack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from billing.core.charges import Metric
from bot.use_cases.explain import Explainer
from bot.use_cases.explain_figure import Figure
from bot.use_cases.freshness import stale_sources
from bot.use_cases.pricing import price_book
from bot.use_cases.reconciliation import recent_score
from bot.views.explain_values import Explanation
from bot.wiring.application import Application
from bot.wiring.parts import own_prices, tag_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to explain.

    Attributes:
        figure: As somebody typed it.
        since / until: Days given apart from the figure; None for those it names.
    """

    figure: str
    since: date | None = None
    until: date | None = None
    metric: Metric = Metric.EFFECTIVE


def explain(application: Application, wanted: Wanted) -> Explanation:
    """List what a figure is made of."""
    now = application.now()
    with application.store.read() as unit:
        explainer = Explainer(
            ledger=unit.ledger,
            prices=price_book(unit.ledger, own_prices(application.settings)),
            keys=tag_keys(application.settings),
            stale=stale_sources(unit.ledger.freshness(), application.schedules, now),
            now=now,
        )
        found = explainer.explain(_figure(explainer, wanted))
        if not found.provisional.nanos:
            return found
        accuracy = recent_score(
            unit,
            own=own_prices(application.settings),
            keys=tag_keys(application.settings),
            now=now,
        )
    return replace(found, accuracy=accuracy)


def _figure(explainer: Explainer, wanted: Wanted) -> Figure:
    figure = replace(explainer.named(wanted.figure), metric=wanted.metric)
    if wanted.since is None and wanted.until is None:
        return figure
    return replace(figure, since=wanted.since, until=wanted.until)
