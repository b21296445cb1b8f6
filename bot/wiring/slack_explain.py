"""What Slack's questions about single figures call: how computed, whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.ports import Directory, Message
from bot.slack.canonical import canonical_text, next_page
from bot.slack.handlers import Answer, Ask
from bot.views.asked import with_buttons
from bot.views.explain import LINES_SHOWN, explained_answer
from bot.views.explain_words import Page
from bot.wiring.application import Application
from bot.wiring.explain import Wanted, explain


@dataclass(frozen=True)
class ExplainAnswers:
    """Answers by verb, over one application; called from several threads."""

    application: Application
    directory: Directory

    def answers(self) -> Mapping[str, Answer]:
        """Return the answers by verb of the grammar."""
        return {"why": self.why}

    def why(self, ask: Ask) -> tuple[Message, ...]:
        """Show how a figure came about, one page of its lines."""
        question = ask.question
        days = question.window
        wanted = Wanted(
            figure=question.target,
            since=days.since if days else None,
            until=days.until if days else None,
        )
        explained = explain(self.application, wanted)
        page = Page(offset=(question.page - 1) * LINES_SHOWN, limit=LINES_SHOWN)
        has_more = bool(page.left(explained.lines))
        message = with_buttons(
            explained_answer(explained, page),
            canonical_text(question, ask.now),
            more=next_page(question, ask.now) if has_more else "",
        )
        return (message,)
