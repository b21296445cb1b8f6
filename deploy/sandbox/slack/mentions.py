"""What a message would have rung: mentions, broadcasts and links in its text.

Reads text the way Slack does. A control sequence counts wherever Slack parses
mrkdwn; text that was escaped, and plain text, never does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_CONTROL = re.compile(r"<([^<>\n]+)>")
_BARE_BROADCAST = re.compile(r"(?<![\w<])@(channel|here|everyone)\b")
_BARE_NAME = re.compile(r"(?<![\w<@.])@([a-z0-9][a-z0-9._-]*)")
_MARKDOWN_LINK = re.compile(r"\[([^\]]*)\]\((https?://[^)\s]+)\)")

BROADCASTS = frozenset({"channel", "here", "everyone"})
#: Kinds that notify somebody; the others only lead somewhere.
RINGING = frozenset({"broadcast", "user", "group"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One thing in a text that Slack turns into more than text.

    Attributes:
        kind: broadcast, user, group, channel, link, date or special.
        target: `channel`, `U…`, `S…`, `C…` or the address of a link.
        label: what a link or a mention shows, when the author said it.
        where: the place in the message, such as `blocks[0].text`.
    """

    kind: str
    target: str
    label: str | None
    where: str

    @property
    def rings(self) -> bool:
        """Tell whether somebody would be notified."""
        return self.kind in RINGING


def mentions_in_text(
    text: str, where: str, *, parse_full: bool = False
) -> list[Mention]:
    """List the control sequences of one mrkdwn text, in their order."""
    found = [_classify(match.group(1), where) for match in _CONTROL.finditer(text)]
    if parse_full:
        rest = _CONTROL.sub(" ", text)
        found += [
            _mention("broadcast", match.group(1), None, where)
            for match in _BARE_BROADCAST.finditer(rest)
        ]
        found += [
            _mention("user", match.group(1), None, where)
            for match in _BARE_NAME.finditer(rest)
            if match.group(1) not in BROADCASTS
        ]
    return found


def _mention(kind: str, target: str, label: str | None, where: str) -> Mention:
    return Mention(kind=kind, target=target, label=label, where=where)


def _classify(inner: str, where: str) -> Mention:
    body, _, rest = inner.partition("|")
    label = rest or None
    if body.startswith("!"):
        return _special(body[1:], label, where)
    if body[:2] in {"@U", "@W"}:
        return _mention("user", body[1:], label, where)
    if body[:2] in {"#C", "#G"}:
        return _mention("channel", body[1:], label, where)
    return _mention("link", body, label, where)


def _special(body: str, label: str | None, where: str) -> Mention:
    name, _, detail = body.partition("^")
    if name in BROADCASTS:
        return _mention("broadcast", name, label, where)
    if name == "subteam":
        return _mention("group", detail, label, where)
    return _mention("date" if name == "date" else "special", body, label, where)


def mentions_of(
    message: dict[str, Any], *, parse_full: bool = False
) -> tuple[Mention, ...]:
    """List everything a message would trigger, fallback text included."""
    found: list[Mention] = []
    if message.get("mrkdwn", True):
        text = message.get("text") or ""
        found += mentions_in_text(text, "text", parse_full=parse_full)
    found += mentions_in_blocks(message.get("blocks") or (), "blocks")
    for index, item in enumerate(message.get("attachments") or ()):
        found += _in_attachment(item, f"attachments[{index}]")
    return tuple(found)


def _in_attachment(item: dict[str, Any], where: str) -> list[Mention]:
    found: list[Mention] = []
    for key in ("pretext", "text", "fallback", "title", "footer", "author_name"):
        found += mentions_in_text(str(item.get(key) or ""), f"{where}.{key}")
    for index, pair in enumerate(item.get("fields") or ()):
        value = f"{pair.get('title', '')} {pair.get('value', '')}"
        found += mentions_in_text(value, f"{where}.fields[{index}]")
    return found + mentions_in_blocks(item.get("blocks") or (), f"{where}.blocks")


def mentions_in_blocks(blocks: Sequence[Any], where: str) -> list[Mention]:
    """List what the blocks would trigger."""
    found: list[Mention] = []
    for index, block in enumerate(blocks):
        for place, node in _nodes(block, f"{where}[{index}]"):
            found += _in_node(node, place)
    return found


def _nodes(value: object, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        yield where, value
        for key, child in value.items():
            yield from _nodes(child, f"{where}.{key}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _nodes(child, f"{where}[{index}]")


def _in_node(node: dict[str, Any], where: str) -> list[Mention]:
    kind, text = node.get("type"), node.get("text")
    if kind == "mrkdwn" and isinstance(text, str):
        return mentions_in_text(text, f"{where}.text")
    if kind == "markdown" and isinstance(text, str):
        links = [
            _mention("link", match.group(2), match.group(1), where)
            for match in _MARKDOWN_LINK.finditer(text)
        ]
        return mentions_in_text(text, f"{where}.text") + links
    return _in_rich_text(node, where)


_RICH = {
    "user": ("user", "user_id"),
    "usergroup": ("group", "usergroup_id"),
    "channel": ("channel", "channel_id"),
    "broadcast": ("broadcast", "range"),
    "link": ("link", "url"),
}


def _in_rich_text(node: dict[str, Any], where: str) -> list[Mention]:
    known = _RICH.get(str(node.get("type")))
    if known is None or known[1] not in node:
        return []
    return [_mention(known[0], str(node[known[1]]), node.get("text"), where)]
