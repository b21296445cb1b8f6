"""Leaks and comparisons as somebody in Slack asks for them, over a real store."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from billing.core.charges import CostCategory
from bot.settings.sections import Config
from bot.slack.canonical import canonical_text, leaks_text
from bot.slack.grammar import Question, read_question
from bot.slack.handlers import Ask, Asker
from bot.views.asked import LEAKS, with_buttons
from bot.views.errors import note
from bot.wiring.slack_runs import RunAnswers
from tests.builders import NOW
from tests.builders_bot import shown
from tests.builders_use_cases import Company, costs

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

ASKER = Asker(user_id="U0MIA", team_id="T1", enterprise_id="", channel_id="C1")


def _question(text: str) -> Question:
    found = read_question(text, NOW)
    assert isinstance(found, Question)
    return found


@pytest.fixture
def answers(store: SqlStore) -> RunAnswers:
    company = Company(store)
    company.bills(
        costs("2026-11-28", "240", quantity="24"),
        costs("2026-11-28", "30", usage_type="NatGateway-Bytes",
              cost_category=CostCategory.NETWORK),
        costs("2026-11-28", "120", job="job-9", quantity="12"),
        through="2026-11-29",
    )  # fmt: skip
    application = SimpleNamespace(
        store=store,
        settings=SimpleNamespace(config=Config()),
        now=lambda: NOW,
        schedules={},
    )
    return RunAnswers(cast("Any", application))


def _says(answers: RunAnswers, text: str) -> str:
    question = _question(text)
    ask = Ask(asker=ASKER, question=question, now=NOW, key="1")
    return shown(*answers.answers()[question.verb](ask))


def test_leaks_are_told_with_the_way_to_ask_again(answers: RunAnswers) -> None:
    told = _says(answers, "leaks job-123 2026-11")

    assert "job-123: where $270.00 went" in told
    assert "avoidable at least $30.00" in told
    assert "NAT gateways" in told


def test_two_runs_are_told_side_by_side(answers: RunAnswers) -> None:
    told = _says(answers, "compare job-123 job-9")

    assert "$270.00" in told
    assert "$120.00" in told
    assert "scaling efficiency: not known" in told


@pytest.mark.parametrize(
    "text",
    ["leaks job-123", "leaks job-123 2026-11", "compare job-1 job-2 since 2026-11-01"],
)
def test_what_was_asked_can_be_asked_again(text: str) -> None:
    question = _question(text)

    assert _question(canonical_text(question, NOW)) == question


def test_only_an_answer_about_a_job_offers_what_was_avoidable() -> None:
    assert leaks_text(_question("job-123 last week"), NOW).startswith(
        "leaks job-123 2026-11"
    )
    assert leaks_text(_question("top"), NOW) == ""

    offered = with_buttons(note("x"), "job-123", leaks="leaks job-123")
    assert LEAKS in str(offered.blocks)
    assert LEAKS not in str(with_buttons(note("x"), "top").blocks)
