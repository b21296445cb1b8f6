"""The pause of every action, and its end."""

from __future__ import annotations

from datetime import datetime

from bot.views.answers import Message
from bot.views.blocks import section
from bot.views.people import People, who
from bot.views.text import escape
from bot.views.words import instant


def paused(by: str, *, since: datetime, reason: str, people: People) -> Message:
    """Say that actions are paused, by whom, since when and why."""
    why = f": {escape(reason, most=300)}" if reason else ""
    text = f"Actions are paused by {who(by, people)} since {instant(since)}{why}"
    more = "Answers, alerts and approvals go on; nothing in AWS is changed."
    return Message(
        text=text, blocks=(section(f":double_vertical_bar: {text}\n{more}"),)
    )


def resumed(by: str, *, at: datetime, people: People) -> Message:
    """Say that actions are allowed again."""
    text = f"Actions are allowed again by {who(by, people)} at {instant(at)}"
    return Message(text=text, blocks=(section(f":arrow_forward: {text}"),))
