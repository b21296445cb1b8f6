"""What Slack's questions about single runs call: leaks, and two runs compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.ports import Message
from bot.slack.canonical import canonical_text, why_text
from bot.slack.grammar import Question
from bot.slack.handlers import Answer, Ask
from bot.use_cases.parts import CostQuestion
from bot.views.asked import with_buttons
from bot.views.runs_messages import compare_message, leaks_message
from bot.wiring.application import Application
from bot.wiring.runs import Runs


@dataclass(frozen=True)
class RunAnswers:
    """Answers by verb, over one application; called from several threads."""

    application: Application

    def answers(self) -> Mapping[str, Answer]:
        """Return the answers by verb of the grammar."""
        return {"leaks": self.leaks, "compare": self.compare}

    def leaks(self, ask: Ask) -> tuple[Message, ...]:
        """Say what of a job's cost was avoidable."""
        question = _asked(ask.question, job=ask.question.target)
        answer = Runs(self.application).leaks(question)
        asked = canonical_text(ask.question, ask.now)
        why = why_text(ask.question, ask.now)
        return (with_buttons(leaks_message(answer), asked, why=why),)

    def compare(self, ask: Ask) -> tuple[Message, ...]:
        """Put two runs side by side."""
        jobs = (ask.question.target, ask.question.job)
        answer = Runs(self.application).compare(jobs, _asked(ask.question))
        asked = canonical_text(ask.question, ask.now)
        return (with_buttons(compare_message(answer), asked),)


def _asked(question: Question, *, job: str = "") -> CostQuestion:
    window = question.window
    return CostQuestion(
        job=job,
        since=window.since if window else None,
        until=window.until if window else None,
    )
