"""The Block Kit pieces that messages are made of. Texts come in already escaped.

Every mrkdwn text is ``verbatim``: Slack then turns nothing in it into links,
channels or mentions by itself. Knows no product words.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.views.answers import Json
from bot.views.limits import (
    BUTTON_CHARS_MAX,
    CONFIRM_BUTTON_CHARS_MAX,
    CONFIRM_TEXT_CHARS_MAX,
    CONFIRM_TITLE_CHARS_MAX,
    HEADER_CHARS_MAX,
)
from bot.views.text import entities, plain

#: Slack refuses empty texts.
EMPTY = "(empty)"


def mrkdwn(text: str) -> Json:
    """Return a mrkdwn text object that Slack takes as it is."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def plain_text(text: str, *, most: int) -> Json:
    """Return a plain-text object of visible characters."""
    shown = plain(text, most=most) or EMPTY
    return {"type": "plain_text", "text": shown, "emoji": False}


def header(text: str) -> Json:
    """Return a heading; it is plain text and takes anybody's words."""
    return {"type": "header", "text": plain_text(text, most=HEADER_CHARS_MAX)}


def section(text: str, *, accessory: Json | None = None) -> Json:
    """Return a paragraph."""
    block: Json = {"type": "section", "text": mrkdwn(text or EMPTY)}
    if accessory is not None:
        block["accessory"] = accessory
    return block


def fields(pairs: Sequence[tuple[str, str]]) -> Json:
    """Return labelled values in two columns; empty values are left out."""
    return {
        "type": "section",
        "fields": [mrkdwn(f"*{label}*\n{value}") for label, value in pairs if value],
    }


def context(*texts: str) -> Json:
    """Return small print, one element each."""
    return {"type": "context", "elements": [mrkdwn(text) for text in texts if text]}


def divider() -> Json:
    """Return a line."""
    return {"type": "divider"}


def quote(text: str) -> Json:
    """Return somebody's own words as a quotation; nothing in it is parsed."""
    words = {"type": "text", "text": plain(text) or "(no reason given)"}
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_quote", "elements": [words]}],
    }


def button(
    label: str,
    *,
    action_id: str,
    value: str,
    style: str = "",
    confirm: Json | None = None,
) -> Json:
    """Return a button; `value` is an identifier, never an authority."""
    element: Json = {
        "type": "button",
        "text": plain_text(label, most=BUTTON_CHARS_MAX),
        "action_id": action_id,
        "value": value,
    }
    if style:
        element["style"] = style
    if confirm is not None:
        element["confirm"] = confirm
    return element


def text_box(block_id: str, action_id: str, label: str, *, most: int) -> Json:
    """Return a box to write in; what is in it comes with the button pressed next."""
    return {
        "type": "input",
        "block_id": block_id,
        "optional": True,
        "label": plain_text(label, most=BUTTON_CHARS_MAX),
        "element": {
            "type": "plain_text_input",
            "action_id": action_id,
            "max_length": most,
        },
    }


def confirm(title: str, text: str, *, yes: str, no: str) -> Json:
    """Return the question asked after a click."""
    return {
        "title": plain_text(title, most=CONFIRM_TITLE_CHARS_MAX),
        "text": plain_text(text, most=CONFIRM_TEXT_CHARS_MAX),
        "confirm": plain_text(yes, most=CONFIRM_BUTTON_CHARS_MAX),
        "deny": plain_text(no, most=CONFIRM_BUTTON_CHARS_MAX),
    }


def actions(block_id: str, elements: Sequence[Json]) -> Json:
    """Return a row of buttons."""
    return {"type": "actions", "block_id": block_id, "elements": [*elements]}


def bullets(lines: Sequence[str]) -> str:
    """Return lines as a list."""
    return "\n".join(f"• {line}" for line in lines)


def columns(rows: Sequence[Sequence[str]], *, texts: int = 1) -> str:
    """Return aligned columns in a code block; the first `texts` read from the left.

    >>> print(columns([("compute", "$12.00"), ("storage", "$1.50")]))
    ```
    compute  $12.00
    storage   $1.50
    ```
    """
    cells = [[plain(cell, most=48).replace("`", "'") for cell in row] for row in rows]
    count = max(len(row) for row in cells)
    filled = [row + [""] * (count - len(row)) for row in cells]
    widths = [max(len(row[index]) for row in filled) for index in range(count)]
    lines = [
        "  ".join(
            cell.ljust(width) if index < texts else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in filled
    ]
    return "```\n" + entities("\n".join(lines)) + "\n```"
