"""What Slack's questions about the months ahead, odd days, errors and waivers call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.ports import Message
from bot.slack.canonical import canonical_text
from bot.slack.handlers import Answer, Ask
from bot.use_cases.anomalies import AnomalyQuestion
from bot.use_cases.shown import shown_names
from bot.views.asked import with_buttons
from bot.views.outlook_messages import (
    anomalies_message,
    forecast_message,
    waivers_message,
)
from bot.views.reconciliation import reconciliation_answer
from bot.wiring.application import Application
from bot.wiring.outlook import anomalies, forecast
from bot.wiring.reconciliation import reconciled


@dataclass(frozen=True)
class OutlookAnswers:
    """Answers by verb, over one application; called from several threads."""

    application: Application

    def answers(self) -> Mapping[str, Answer]:
        """Return the answers by verb of the grammar."""
        return {
            "forecast": self.forecast,
            "anomalies": self.anomalies,
            "reconciliation": self.reconciliation,
            "waivers": self.waivers,
        }

    def forecast(self, ask: Ask) -> tuple[Message, ...]:
        """Forecast the month: everything, a team, or a job."""
        target = ask.question.target
        is_team = ask.question.by == "team"
        answer = forecast(
            self.application,
            team=target.lower() if is_team else "",
            job="" if is_team else target.lower(),
        )
        return (_asked(forecast_message(answer), ask),)

    def anomalies(self, ask: Ask) -> tuple[Message, ...]:
        """Show days that stand out; what AWS found is read by the schedule."""
        days = ask.question.window
        question = AnomalyQuestion(
            since=days.since if days else None, until=days.until if days else None
        )
        answer = anomalies(self.application, question, asks_aws=False)
        return (_asked(anomalies_message(answer), ask),)

    def reconciliation(self, ask: Ask) -> tuple[Message, ...]:
        """Hold provisional cost against the bill."""
        days = ask.question.window
        found = reconciled(
            self.application,
            since=days.since if days else None,
            until=days.until if days else None,
        )
        return (_asked(reconciliation_answer(found), ask),)

    def waivers(self, ask: Ask) -> tuple[Message, ...]:
        """List the waivers that have not ended."""
        del ask
        with self.application.store.read() as unit:
            waivers = unit.journal.waivers(since=self.application.now())
            people = shown_names(unit, [one.owner for one in waivers])
        return (waivers_message(waivers, people),)


def _asked(message: Message, ask: Ask) -> Message:
    return with_buttons(message, canonical_text(ask.question, ask.now))
