"""Asking how a figure came about and whose cost is: words, buttons, who may press."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from zoneinfo import ZoneInfo

import pytest

from bot.ports import Message
from bot.slack import answering
from bot.slack.asked_again import NOT_MINE
from bot.slack.canonical import canonical_text, next_page, why_text
from bot.slack.grammar import CONFIRM, UNDO, BadQuestion, Question, read_question
from bot.slack.handlers import Handlers
from bot.slack.windows import Window
from bot.views.asked import MORE, WHY, with_buttons
from bot.views.errors import note
from bot.views.untagged import CONFIRM as GIVE
from bot.views.untagged import UNDO as TAKE_BACK
from tests.builders_bot import NOW
from tests.slack.support import Recorded, make_app, send_click, send_command

ITEM = "012345678901/us-east-1/p5.48xlarge"


def ask(text: str) -> Question:
    question = read_question(text, NOW)
    assert isinstance(question, Question), question
    return question


def problems(text: str) -> str:
    question = read_question(text, NOW)
    assert isinstance(question, BadQuestion), question
    return "\n".join(question.problems)


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Message, bool]]:
    """What the presser would have been shown, and whether it replaces the pressed."""
    sent: list[tuple[Message, bool]] = []

    def send(self: answering.Reply, messages: tuple[Message, ...]) -> None:
        sent.extend((one, self.replaces_pressed) for one in messages)

    monkeypatch.setattr(answering.Reply, "send", send)
    return sent


@pytest.mark.parametrize(
    ("typed", "question"),
    [
        ("why job-123", Question(verb="why", target="job-123")),
        (
            "why job-123:compute 2026-11-12",
            Question(
                verb="why",
                target="job-123:compute",
                window=Window(since=date(2026, 11, 12), until=date(2026, 11, 13)),
            ),
        ),
        ("why team:nlp --page 3", Question(verb="why", target="team:nlp", page=3)),
        ("untagged --page 2", Question(verb="untagged", page=2)),
        (
            f"untagged confirm {ITEM} --job job-123",
            Question(verb=CONFIRM, target=ITEM, job="job-123"),
        ),
        ("untagged undo 4", Question(verb=UNDO, target="4")),
        ("me", Question(verb="me")),
        ("budget nlp", Question(verb="budget", target="nlp")),
        ("budget", Question(verb="budget")),
    ],
)
def test_question_is_read_and_written_back(typed: str, question: Question) -> None:
    assert ask(typed) == question
    assert ask(canonical_text(question, NOW)) == question


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("why", "say which figure"),
        ("why job-1 --page 0", "--page must be a number from 1 on"),
        ("untagged confirm x", "say whose it is: --job job-123"),
        ("untagged confirm --job a", "say which item"),
        ("untagged undo", "say which item"),
        ("untagged undo 1 --job a", "unknown option --job"),
        ("budget a b", "a budget is that of a month"),
        ("untagged lst week", "did you mean last week?"),
    ],
)
def test_what_is_wrong_is_said(typed: str, said: str) -> None:
    assert said in problems(typed)


def test_confirming_keeps_the_days_of_the_list() -> None:
    days = Window(since=date(2026, 11, 1), until=date(2026, 11, 15))
    question = Question(verb=CONFIRM, target=ITEM, job="job 9", window=days)

    assert ask(canonical_text(question, NOW)) == question


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("job-123 last week", "why job-123 2026-11-23..2026-11-29"),
        ("team nlp", "why team:nlp"),
        ("account 012345678901 2026-10", "why account:012345678901"),
        ("untagged", "why bucket:untagged"),
        ("top teams", "why all"),
        ("estimate p5.48xlarge 1h", ""),
    ],
)
def test_every_answer_about_cost_knows_how_it_is_explained(
    typed: str, why: str
) -> None:
    text = why_text(ask(typed), NOW)

    assert text.startswith(why)
    assert bool(text) == bool(why)


def test_the_next_page_is_the_same_question_one_further() -> None:
    assert next_page(ask("why job-1 --page 2"), NOW) == "why job-1 --page=3"


class Explains(Recorded):
    """An application that answers the questions of this page."""

    def handlers(self, *verbs: str) -> Handlers:
        return super().handlers(*(verbs or ("why", "untagged", CONFIRM, UNDO)))


def test_how_computed_is_shown_besides_and_more_instead(
    replies: list[tuple[Message, bool]],
) -> None:
    recorded = Explains()
    app = make_app(recorded)

    send_click(app, action_id=WHY, value="why job-123")
    send_click(app, action_id=MORE, value="why job-123 --page=2")

    assert [one.question.page for one in recorded.asks] == [1, 2]
    assert [replaces for _, replaces in replies] == [False, True]


@pytest.mark.parametrize(
    ("action_id", "value"),
    [
        (GIVE, f"untagged confirm {ITEM} --job=job-123"),
        (TAKE_BACK, "untagged undo 4"),
    ],
)
def test_pressing_gives_cost_to_a_job_or_takes_it_back(
    action_id: str, value: str, replies: list[tuple[Message, bool]]
) -> None:
    recorded = Explains()

    send_click(make_app(recorded), action_id=action_id, value=value)

    assert [one.question for one in recorded.asks] == [ask(value)]
    assert recorded.asks[0].asker.user_id == "W111"
    assert len(replies) == 1


@pytest.mark.parametrize(
    ("action_id", "value"),
    [
        (WHY, f"untagged confirm {ITEM} --job=job-123"),
        (MORE, "untagged undo 4"),
        (GIVE, "why job-123"),
        (GIVE, "untagged undo 4"),
        (TAKE_BACK, f"untagged confirm {ITEM} --job=job-123"),
        (GIVE, "pause"),
    ],
)
def test_a_forged_button_asks_nothing_and_is_recorded(
    action_id: str, value: str, replies: list[tuple[Message, bool]]
) -> None:
    recorded = Explains()

    send_click(make_app(recorded), action_id=action_id, value=value)

    assert recorded.asks == []
    assert [one.text for one, _ in replies] == [NOT_MINE]
    assert [one.reason for one in recorded.refusals] == ["forged_value"]


@pytest.mark.parametrize("action_id", [WHY, MORE, GIVE, TAKE_BACK])
def test_stranger_presses_nothing(
    action_id: str, replies: list[tuple[Message, bool]]
) -> None:
    recorded = Explains()

    send_click(
        make_app(recorded),
        action_id=action_id,
        value="why job-123",
        user={"id": "U9", "team_id": "T_OTHER"},
    )

    assert recorded.asks == []
    assert "home organisation" in replies[0][0].text


def test_a_repeated_delivery_gives_cost_once(
    replies: list[tuple[Message, bool]],
) -> None:
    recorded = Explains()
    app = make_app(recorded)

    for _ in range(2):
        send_command(app, f"untagged confirm {ITEM} --job job-123")

    assert len(recorded.asks) == 1
    assert "received before" in replies[1][0].text


def test_the_days_of_the_askers_calendar_are_said(
    replies: list[tuple[Message, bool]],
) -> None:
    zone = ZoneInfo("Europe/Oslo")

    class Abroad(Explains):
        def handlers(self, *verbs: str) -> Handlers:
            return replace(super().handlers(*verbs), zone=lambda _: zone)

    recorded = Abroad(answer=lambda _: (with_buttons(note("$12.00"), "why job-1"),))

    send_command(make_app(recorded), "why job-1 yesterday")

    said = replies[0][0].blocks[-2]["elements"][0]["text"]
    assert said == (
        '"yesterday" by your calendar (Europe/Oslo): AWS billing days 29 Nov 2026, UTC.'
    )
