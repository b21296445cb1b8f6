"""The head of the audit chain as it is posted: what a cut chain is held against."""

from __future__ import annotations

from datetime import datetime

from bot.views.answers import Message
from bot.views.blocks import context, section
from bot.views.words import instant


def head_posted(events: int, last: str, *, at: datetime) -> Message:
    """Render the head of a day."""
    noun = "event" if events == 1 else "events"
    text = f"audit head: {events} {noun}, {last}"
    how = (
        f"As of {instant(at)}. To check that nothing was cut off or rewritten since:"
        f" `gpucost audit verify --events {events} --head {last}`"
    )
    return Message(text=text, blocks=(section(f":lock: {text}"), context(how)))
