"""The buttons under an answer (Share, Refresh, How computed, More), and it shared.

A button carries the command that asks again and nothing else: who may ask is looked
up when it is pressed. What bears the buttons is an answer; a refusal has none.
"""

from __future__ import annotations

from datetime import date

from bot.views.answers import Json, Message
from bot.views.blocks import actions, button, context
from bot.views.limits import VALUE_CHARS_MAX, fit_one
from bot.views.text import escape, mention, name
from bot.views.words import days_of

SHARE = "answer_share"
REFRESH = "answer_refresh"
WHY = "answer_why"
MORE = "answer_more"
LEAKS = "answer_leaks"
#: Rows of buttons that belong to the asker alone begin with this.
_BLOCK = "answer_buttons"
_QUESTION_CHARS_MAX = 300


def with_buttons(
    message: Message, asked: str, *, why: str = "", more: str = "", leaks: str = ""
) -> Message:
    """Return an answer with its buttons; without when `asked` cannot be carried.

    `why` asks how the figure came about, `more` for the next lines, `leaks` what of it
    was avoidable; "" for no button.
    """
    if not asked or len(asked) > VALUE_CHARS_MAX:
        return message
    named = (
        ("Share", SHARE, asked),
        ("Refresh", REFRESH, asked),
        ("How computed", WHY, why),
        ("What was avoidable", LEAKS, leaks),
        ("More lines", MORE, more),
    )
    row = actions(
        _BLOCK,
        [
            button(label, action_id=action, value=value)
            for label, action, value in named
            if value and len(value) <= VALUE_CHARS_MAX
        ],
    )
    return Message(text=message.text, blocks=(*message.blocks, row))


def with_calendar(message: Message, told: str) -> Message:
    """Return an answer that says which days were meant; before its buttons."""
    blocks = list(message.blocks)
    rows = [index for index, block in enumerate(blocks) if _is_row(block)]
    blocks.insert(rows[-1] if rows else len(blocks), context(told))
    return Message(text=message.text, blocks=tuple(blocks))


def calendar_text(said: str, zone: str, since: date, until: date | None) -> str:
    """Say what words of a calendar mean in billing days.

    >>> calendar_text("last week", "Europe/Oslo", date(2026, 11, 23), date(2026, 11, 30))
    '"last week" by your calendar (Europe/Oslo): AWS billing days 23 to 29 Nov 2026, UTC.'
    """
    days = f"{days_of(since, since)} on" if until is None else days_of(since, until)
    shown, place = escape(said, most=40), escape(zone, most=40)
    by = "" if zone in {"UTC", "Etc/UTC"} else f" by your calendar ({place})"
    return f'"{shown}"{by}: AWS billing days {days}, UTC.'


def own_row(name: str) -> str:
    """Return the id of a further row of buttons, left out where an answer is shared."""
    return f"{_BLOCK}:{name}"


def has_buttons(message: Message) -> bool:
    """Tell whether a message is an answer that can be shared and asked again."""
    return any(map(_is_row, message.blocks))


def without_buttons(message: Message) -> Message:
    """Return the answer alone: for everybody, or where it cannot be pressed."""
    blocks = tuple(block for block in message.blocks if not _is_row(block))
    return Message(text=message.text, blocks=blocks)


def shared(message: Message, *, by: str, question: str) -> Message:
    """Render an answer for everybody in a channel: who shared it, and the question.

    `by` is a Slack id; `question` is the command as typed, not escaped. It is one
    message: what Slack has no room for is counted.
    """
    answer = without_buttons(message)
    asked = name(question, most=_QUESTION_CHARS_MAX)
    intro = context(f"{mention(by)} shared the answer to {asked}")
    text = f"{mention(by)} shared: {answer.text}"
    return fit_one(Message(text=text, blocks=(intro, *answer.blocks)))


def not_shared(why: str) -> Message:
    """Say to who pressed Share why nothing was posted; `why` is a text of ours."""
    text = f"Nothing was shared: {why}."
    return Message(text=text, blocks=(context(text),))


def _is_row(block: Json) -> bool:
    block_id = str(block.get("block_id") or "")
    return block.get("type") == "actions" and block_id.partition(":")[0] == _BLOCK
