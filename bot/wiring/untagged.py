"""Untagged cost over one application: listed, given to a job, and taken back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from bot.unit_of_work import SqlUnitOfWork
from bot.use_cases.explain import Explainer
from bot.use_cases.freshness import stale_sources
from bot.use_cases.pricing import price_book
from bot.use_cases.untagged import untagged_items
from bot.use_cases.untagged_confirm import (
    Outcome,
    Target,
    confirm,
    confirmations,
    confirmed_of,
    target_of,
    undo,
)
from bot.views.untagged_values import Confirmed, UntaggedAnswer
from bot.wiring.application import Application
from bot.wiring.parts import own_prices, tag_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of giving an item to a job, or of taking it back."""

    confirmed: Confirmed
    days: int
    again: bool


def untagged(
    application: Application, since: date | None, until: date | None
) -> UntaggedAnswer:
    """List the untagged cost of a window."""
    with application.store.read() as unit:
        return _listed(application, unit, since, until)


def target(
    application: Application, item: str, since: date | None, until: date | None
) -> Target:
    """Return what an item names in a window."""
    with application.store.read() as unit:
        listed = _listed(application, unit, since, until)
        return target_of(unit, item, listed, application.now())


def give(
    application: Application, what: Target, job: str, *, by: str, reason: str = ""
) -> Done:
    """Give an item to a job; `by` is a pseudonym."""
    now = application.now()
    outcome = confirm(application.store, what, job, by=by, reason=reason, now=now)
    return _done(application, outcome)


def take_back(application: Application, number: str, *, by: str) -> Done:
    """Take a confirmation back; `by` is a pseudonym."""
    outcome = undo(application.store, number, by=by, now=application.now())
    return _done(application, outcome)


def _done(application: Application, outcome: Outcome) -> Done:
    with application.store.read() as unit:
        confirmed = confirmed_of(unit, outcome.assignment)
    return Done(confirmed=confirmed, days=outcome.days, again=outcome.again)


def _listed(
    application: Application,
    unit: SqlUnitOfWork,
    since: date | None,
    until: date | None,
) -> UntaggedAnswer:
    now = application.now()
    explainer = Explainer(
        ledger=unit.ledger,
        prices=price_book(unit.ledger, own_prices(application.settings)),
        keys=tag_keys(application.settings),
        stale=stale_sources(unit.ledger.freshness(), application.schedules, now),
        now=now,
    )
    return untagged_items(explainer, since, until, confirmed=confirmations(unit))
