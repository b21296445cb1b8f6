"""A question as a command reads back as the same question, or not at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.slack.canonical import SHAREABLE, canonical_text
from bot.slack.grammar import CHANGING, Question, read_question
from tests.builders_bot import NOW
from tests.hostile import hostile_strings


def ask(text: str) -> Question:
    question = read_question(text, NOW)
    assert isinstance(question, Question), question
    return question


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("job-123", "job-123"),
        ("cost job-123 since 2026-11-01", "job-123 since 2026-11-01"),
        ("job-123 7d", "job-123 2026-11-23..2026-11-29"),
        ("cost idle", "cost idle"),
        ('"big run" last week', '"big run" 2026-11-23..2026-11-29'),
        ("top", "top job"),
        ("top teams this month", "top team since 2026-11-01"),
        ("team research yesterday", "team research 2026-11-29..2026-11-29"),
        ("account 012345678901", "account 012345678901"),
        ("untagged", "untagged"),
        ("estimate p5.48xlarge x4 72h spot", "estimate p5.48xlarge x4 3d spot"),
        (
            "estimate p5.48xlarge 90m us-west-2 --job big --time-limit",
            "estimate p5.48xlarge x1 90m on-demand us-west-2 --job=big --time-limit",
        ),
        (
            'estimate p5.48xlarge 1h --job "big run"',
            'estimate p5.48xlarge x1 1h on-demand --job="big run"',
        ),
        (
            "estimate p5.48xlarge 1h interruptible --deadline 2026-12-05",
            "estimate p5.48xlarge x1 1h on-demand --deadline=2026-12-05 --interruptible",
        ),
        ("estimate p5.48xlarge 1.0005h", "estimate p5.48xlarge x1 1.0005h on-demand"),
    ],
)
def test_question_is_said_again_with_its_days(typed: str, text: str) -> None:
    assert canonical_text(ask(typed), NOW) == text


@pytest.mark.parametrize("typed", ["job-1 7d", "top today", "team x last month"])
def test_button_pressed_days_later_asks_about_the_same_first_day(typed: str) -> None:
    question = ask(typed)
    later = NOW + timedelta(days=9)

    again = read_question(canonical_text(question, NOW), later)

    assert again == question


@pytest.mark.parametrize(
    "typed",
    [
        "request p5.48xlarge 24h --job a --reason b",
        "pause now",
        "resume",
        "approvals",
        "help",
        "",
    ],
)
def test_questions_that_do_more_than_read_figures_have_no_text(typed: str) -> None:
    assert canonical_text(ask(typed), NOW) == ""


def test_nothing_that_changes_something_can_be_asked_by_a_button() -> None:
    assert not SHAREABLE & CHANGING


@pytest.mark.parametrize("name", ["job\x00", "job\u202e", "job\ud800"])
def test_name_that_cannot_be_shown_or_stored_has_no_text(name: str) -> None:
    assert canonical_text(Question(verb="cost", target=name), NOW) == ""


def test_hostile_names_read_back_as_they_were_or_not_at_all() -> None:
    for name in hostile_strings():
        question = Question(verb="cost", target=name)

        text = canonical_text(question, NOW)

        again = read_question(text, NOW)
        assert not text or (
            isinstance(again, Question) and replace(again, near=()) == question
        )


def test_name_with_a_mention_in_it_is_carried_literally() -> None:
    text = canonical_text(Question(verb="cost", target="<!channel>"), NOW)

    assert text == "&lt;!channel&gt;"
