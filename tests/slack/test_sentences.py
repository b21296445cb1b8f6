"""Sentences are commands in other words; what is not sure stays unread."""

from __future__ import annotations

import pytest

from bot.slack.grammar import BadQuestion, Question, read_question
from bot.slack.sentences import command_of
from tests.builders_bot import NOW
from tests.hostile import hostile_strings


@pytest.mark.parametrize(
    ("sentence", "command"),
    [
        ("how much did team nlp spend last week?", "team nlp last week"),
        ("How much did the NLP team spend yesterday?", "team nlp yesterday"),
        ("what did job-118 cost since monday", "cost job-118 since monday"),
        ("what does account 012345678901 cost this month?",
         "account 012345678901 this month"),
        ("which jobs cost the most last week", "top job last week"),
        ("what are the most expensive teams this month", "top team this month"),
        ("why is job-123 so expensive?", "why job-123"),
        ("why did team nlp cost so much last week?", "why team:nlp last week"),
        ("show me idle GPUs", "idle"),
        ("how much have I spent this month?", "me this month"),
        ("what is the budget of team vision?", "budget vision"),
        ("please show me the untagged cost", "untagged"),
        ("how much is covered by savings plans?", "coverage"),
        ("hey <@U0GPUCOST> how much did team nlp spend", "team nlp"),
        ("what did job train.v2 cost in the past week?", "cost train.v2 7d"),
    ],
)  # fmt: skip
def test_sentence_is_the_command_that_asks_it(sentence: str, command: str) -> None:
    assert command_of(sentence) == command

    asked, typed = read_question(sentence, NOW), read_question(command, NOW)
    assert isinstance(asked, Question)
    assert asked == typed


@pytest.mark.parametrize(
    "text",
    [
        "how are you",
        "which team spends the most on cheese or p5.48xlarge",
        "pause everything please",
        "can you stop job-1 and job-2",
        "approve it",
    ],
)
def test_what_is_not_sure_is_not_guessed(text: str) -> None:
    assert command_of(text) == ""


def test_a_sentence_never_asks_for_a_change() -> None:
    for words in ("pause", "resume", "request", "untagged confirm x --job y"):
        assert not command_of(f"please could you {words}").startswith(
            ("pause", "resume", "request", "untagged confirm")
        )


def test_a_sentence_nobody_understands_says_so() -> None:
    read = read_question("how are you", NOW)

    assert isinstance(read, BadQuestion)


def test_commands_go_before_sentences() -> None:
    asked = read_question("why job-123 last week", NOW)

    assert isinstance(asked, Question)
    assert (asked.verb, asked.target) == ("why", "job-123")


def test_hostile_sentences_are_read_or_refused() -> None:
    for text in hostile_strings():
        for opened in (text, f"how much did team {text} spend"):
            assert isinstance(read_question(opened, NOW), Question | BadQuestion)
