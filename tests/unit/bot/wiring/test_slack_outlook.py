"""Forecasts, odd days, errors and waivers as somebody in Slack asks for them."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from bot.settings.sections import Config
from bot.slack.grammar import Question, read_question
from bot.slack.handlers import Ask, Asker
from bot.use_cases.waivers import ask_waiver
from bot.views.asked import has_buttons
from bot.wiring.slack_outlook import OutlookAnswers
from tests.builders import NOW
from tests.builders_bot import shown
from tests.builders_use_cases import Company, costs

if TYPE_CHECKING:
    from bot.ports import Message
    from bot.unit_of_work import SqlStore

ASKER = Asker(user_id="U0MIA", team_id="T1", enterprise_id="", channel_id="C1")


@pytest.fixture
def answers(store: SqlStore) -> OutlookAnswers:
    Company(store).bills(costs("2026-11-28", "240"), through="2026-11-29")
    application = SimpleNamespace(
        store=store, settings=SimpleNamespace(config=Config()), now=lambda: NOW
    )
    return OutlookAnswers(cast("Any", application))


def _ask(answers: OutlookAnswers, text: str) -> tuple[Message, ...]:
    question = read_question(text, NOW)
    assert isinstance(question, Question)
    ask = Ask(asker=ASKER, question=question, now=NOW, key="1")
    return answers.answers()[question.verb](ask)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("forecast", "$240.00 so far"),
        ("forecast team research", "Forecast of November 2026, team research"),
        ("forecast job-123", "Forecast of job-123"),
        ("anomalies", "Nothing"),
        ("reconciliation", "Provisional against billed: all jobs"),
    ],
)
def test_every_question_has_an_answer_that_can_be_asked_again(
    answers: OutlookAnswers, text: str, said: str
) -> None:
    messages = _ask(answers, text)

    assert said in shown(*messages)
    assert has_buttons(messages[0])


def test_waivers_are_listed_with_who_asked(
    answers: OutlookAnswers, store: SqlStore
) -> None:
    with store.write() as unit:
        owner = unit.people.remember(slack_id="U0MIA", email="mia@example.com")
    ask_waiver(
        store, policy="stop-idle-gpus", subject="job-123", owner=owner, reason="demo",
        until=NOW + timedelta(days=2), cap=None, channel="", now=NOW,
    )  # fmt: skip

    told = shown(*_ask(answers, "waiver list"))

    assert "`stop-idle-gpus` on `job-123`" in told
    assert "<@U0MIA>" in told
