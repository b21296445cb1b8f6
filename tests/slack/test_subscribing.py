"""Subscriptions as people type them."""

from __future__ import annotations

from datetime import time

import pytest

from bot.slack.grammar import BadQuestion, Question, read_question
from bot.slack.questions import Wish
from tests.builders_bot import NOW


def _read(text: str) -> Question:
    found = read_question(text, NOW)
    assert isinstance(found, Question), found
    return found


@pytest.mark.parametrize(
    ("text", "channel", "wish"),
    [
        (
            "subscribe <#C0ML|ml-infra> weekly mon 9:00 team=nlp",
            "C0ML",
            Wish(every="week", weekday=0, at=time(9), team="nlp"),
        ),
        (
            "subscribe #ml-infra fridays 5pm --team NLP",
            "#ml-infra",
            Wish(every="week", weekday=4, at=time(17), team="nlp"),
        ),
        ("subscribe daily 8:30", "", Wish(every="day", weekday=0, at=time(8, 30))),
        ("subscribe monthly", "", Wish(every="month", weekday=0, at=time(9))),
    ],
)
def test_a_subscription_is_read(text: str, channel: str, wish: Wish) -> None:
    found = _read(text)

    assert (found.verb, found.target, found.wish) == ("subscribe", channel, wish)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("subscribe #a daily mon", "a weekday is for weekly digests"),
        ("subscribe #a #b", "channel was given twice"),
        ("subscribe #a at noon", "do not know what 'at' means"),
        ("subscribe #a 25:00", "do not know what '25:00' means"),
        ("unsubscribe", "say which number"),
        ("unsubscribe #ml-infra", "say which number"),
    ],
)
def test_what_is_wrong_is_said(text: str, problem: str) -> None:
    found = read_question(text, NOW)

    assert isinstance(found, BadQuestion)
    assert any(problem in one for one in found.problems)


def test_subscribe_alone_lists_them() -> None:
    assert _read("subscribe").verb == "subscriptions"
    assert _read("unsubscribe 3").target == "3"
