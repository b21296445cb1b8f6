"""The buttons under an answer, Share and Refresh, and the answer once shared.

A button carries the command that asks again and nothing else: who may ask is looked
up when it is pressed. What bears the buttons is an answer; a refusal has none.
"""

from __future__ import annotations

from bot.views.answers import Json, Message
from bot.views.blocks import actions, button, context
from bot.views.limits import VALUE_CHARS_MAX, fit_one
from bot.views.text import mention, name

SHARE = "answer_share"
REFRESH = "answer_refresh"
_BLOCK = "answer_buttons"
_QUESTION_CHARS_MAX = 300


def with_buttons(message: Message, asked: str) -> Message:
    """Return an answer with its buttons; without when `asked` cannot be carried."""
    if not asked or len(asked) > VALUE_CHARS_MAX:
        return message
    row = actions(
        _BLOCK,
        [
            button("Share", action_id=SHARE, value=asked),
            button("Refresh", action_id=REFRESH, value=asked),
        ],
    )
    return Message(text=message.text, blocks=(*message.blocks, row))


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
    return block.get("type") == "actions" and block.get("block_id") == _BLOCK
