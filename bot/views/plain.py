"""A Slack message as plain text, for a terminal; pure."""

from __future__ import annotations

import re

from bot.views.answers import Json, Message
from bot.views.native import without_native

_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_FENCE = re.compile(r"^```\n?|\n?```$", re.MULTILINE)
_MARKUP = tuple(
    re.compile(rf"(?<!\w){re.escape(mark)}(\S(?:.*?\S)?){re.escape(mark)}(?!\w)")
    for mark in "`*_"
)


def message_text(message: Message) -> str:
    """Return what a message says, block by block; its fallback text without blocks."""
    parts = [_block(block) for block in without_native(message.blocks)]
    return "\n".join(part for part in parts if part) or _plain(message.text)


def _block(block: Json) -> str:
    kind = block.get("type")
    if kind == "divider":
        return "-" * 40
    if kind == "actions":
        labels = [str(one.get("text", {}).get("text", "")) for one in block["elements"]]
        return " ".join(f"[ {label} ]" for label in labels if label)
    texts = [block.get("text"), *block.get("elements", ())]
    lines = [_plain(str(one["text"])) for one in texts if one and "text" in one]
    pairs = [str(one["text"]).split("\n", 1) for one in block.get("fields", ())]
    lines += [": ".join(_plain(part) for part in pair) for pair in pairs]
    return "\n".join(lines)


def _plain(text: str) -> str:
    bare = _FENCE.sub("", text)
    for mark in _MARKUP:
        bare = mark.sub(r"\1", bare)
    for entity, char in _ENTITIES:
        bare = bare.replace(entity, char)
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in bare)
