"""Questions about single runs: where their money went, and how two of them compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.use_cases.compare import ask_compare
from bot.use_cases.freshness import stale_sources
from bot.use_cases.leaks import ask_leaks
from bot.use_cases.leaks_of_many import ask_leaks_of_many
from bot.use_cases.parts import CostQuestion
from bot.use_cases.pricing import price_book
from bot.views.efficiency import CompareAnswer
from bot.views.leaks import LeakAnswer
from bot.wiring.parts import own_prices, tag_keys

if TYPE_CHECKING:
    from bot.wiring.application import Application


@dataclass(frozen=True)
class Runs:
    """Answers about runs over one application."""

    application: Application

    def leaks(self, question: CostQuestion) -> LeakAnswer:
        """Answer where the money of a run went, or of every job asked about."""
        application, now = self.application, self.application.now()
        ask = ask_leaks if question.job else ask_leaks_of_many
        with application.store.read() as unit:
            return ask(
                unit.ledger,
                question,
                prices=price_book(unit.ledger, own_prices(application.settings)),
                keys=tag_keys(application.settings),
                stale=stale_sources(
                    unit.ledger.freshness(), application.schedules, now
                ),
                now=now,
            )

    def compare(self, jobs: tuple[str, str], question: CostQuestion) -> CompareAnswer:
        """Compare two runs."""
        application, now = self.application, self.application.now()
        with application.store.read() as unit:
            return ask_compare(
                unit.ledger,
                jobs,
                question,
                prices=price_book(unit.ledger, own_prices(application.settings)),
                keys=tag_keys(application.settings),
                now=now,
            )
