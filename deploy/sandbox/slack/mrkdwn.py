"""Slack's mrkdwn as styled spans, with people, channels and groups by name.

Pure: text in, spans out. The renderers decide how a span looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from deploy.sandbox.slack.directory import Directory
from deploy.sandbox.slack.mentions import BROADCASTS
from deploy.sandbox.slack.model import Json

_TOKEN = re.compile(
    r"```(?P<pre>.+?)```"
    r"|`(?P<code>[^`\n]+)`"
    r"|<(?P<control>[^<>\n]+)>"
    r"|(?<!\w)\*(?P<bold>[^*\n]+)\*(?!\w)"
    r"|(?<!\w)_(?P<italic>[^_\n]+)_(?!\w)"
    r"|(?<!\w)~(?P<strike>[^~\n]+)~(?!\w)"
    r"|:(?P<emoji>[a-z0-9_+-]+):",
    re.DOTALL,
)
_QUOTE = re.compile(r"^(?:&gt;|>) ?", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.MULTILINE)
_STRONG = re.compile(r"\*\*(.+?)\*\*")
_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+)\)")
_BULLET = re.compile(r"^(\s*)[-*]\s+", re.MULTILINE)

EMOJI = {
    "bar_chart": "📊",
    "bell": "🔔",
    "chart_with_upwards_trend": "📈",
    "double_vertical_bar": "⏸",
    "hourglass": "⏳",
    "hourglass_flowing_sand": "⏳",
    "information_source": "ℹ",  # noqa: RUF001 - the sign itself is meant
    "large_green_circle": "🟢",
    "large_yellow_circle": "🟡",
    "lock": "🔒",
    "money_with_wings": "💸",
    "moneybag": "💰",
    "mag": "🔍",
    "no_entry": "⛔",
    "octagonal_sign": "🛑",
    "red_circle": "🔴",
    "rotating_light": "🚨",
    "tada": "🎉",
    "warning": "⚠",
    "white_check_mark": "✅",
    "x": "❌",
}


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text with one look.

    Attributes:
        styles: any of bold, italic, strike, code, pre, link, mention, ring.
        href: where a link leads.
    """

    text: str
    styles: frozenset[str] = frozenset()
    href: str | None = None


def unescape(text: str) -> str:
    """Undo the three escapes of mrkdwn."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def spans_of(
    text: str, directory: Directory, styles: frozenset[str] = frozenset()
) -> Iterator[Span]:
    """Split mrkdwn into spans, in order."""
    if not styles:
        text = _QUOTE.sub("▌ ", text)
    end = 0
    for match in _TOKEN.finditer(text):
        if match.start() > end:
            yield Span(unescape(text[end : match.start()]), styles)
        yield from _token(match, directory, styles)
        end = match.end()
    if end < len(text):
        yield Span(unescape(text[end:]), styles)


def _token(
    match: re.Match[str], directory: Directory, styles: frozenset[str]
) -> Iterator[Span]:
    kind = str(match.lastgroup)
    inner = match.group(kind)
    if kind in {"bold", "italic", "strike"}:
        yield from spans_of(inner, directory, styles | {kind})
    elif kind == "control":
        yield _control(inner, directory, styles)
    elif kind == "emoji":
        yield Span(EMOJI.get(inner, f":{inner}:"), styles)
    else:
        body = inner.strip("\n") if kind == "pre" else inner
        yield Span(unescape(body), styles | {kind})


def _control(inner: str, directory: Directory, styles: frozenset[str]) -> Span:
    body, _, label = inner.partition("|")
    shown = unescape(label)
    if body.startswith("!"):
        return _special(body[1:], shown, directory, styles)
    if body.startswith("@"):
        person = directory.person(body[1:])
        name = person.name if person else shown or body[1:]
        return Span(f"@{name}", styles | {"mention", "ring"})
    if body.startswith("#"):
        channel = directory.channel(body[1:])
        name = channel.name if channel else shown or body[1:]
        return Span(f"#{name}", styles | {"mention"})
    href = unescape(body)
    return Span(shown or href.removeprefix("mailto:"), styles | {"link"}, href)


def _special(
    body: str, shown: str, directory: Directory, styles: frozenset[str]
) -> Span:
    name, _, detail = body.partition("^")
    if name in BROADCASTS:
        return Span(f"@{name}", styles | {"mention", "ring"})
    if name == "subteam":
        group = directory.group(detail)
        handle = group.handle if group else shown.removeprefix("@") or detail
        return Span(f"@{handle}", styles | {"mention", "ring"})
    return Span(shown or body, styles)


def from_markdown(text: str) -> str:
    """Turn the common part of standard Markdown into mrkdwn."""
    text = _LINK.sub(r"<\2|\1>", text)
    text = _BULLET.sub(r"\1• ", text)
    text = _STRONG.sub(r"*\1*", text)
    return _HEADING.sub(r"*\1*", text)


def text_object(value: Json | None, directory: Directory) -> list[Span]:
    """Return the spans of a `plain_text`, `mrkdwn` or raw text object."""
    if not value:
        return []
    text = str(value.get("text", ""))
    if value.get("type") == "mrkdwn":
        return list(spans_of(text, directory))
    if value.get("type") == "plain_text":
        return [Span(re.sub(r":([a-z0-9_+-]+):", _emoji, text))]
    return [Span(text)]


def _emoji(match: re.Match[str]) -> str:
    return EMOJI.get(match.group(1), match.group(0))


def rich_text(node: Json, directory: Directory) -> list[Span]:
    """Return the spans of a rich text block or of a part of one."""
    kind = node.get("type")
    if kind == "text":
        styles = frozenset(key for key, on in (node.get("style") or {}).items() if on)
        return [Span(str(node.get("text", "")), styles)]
    if kind == "link":
        href = str(node.get("url", ""))
        return [Span(str(node.get("text") or href), frozenset({"link"}), href)]
    leaf = {
        "user": f"@{node.get('user_id')}",
        "usergroup": f"!subteam^{node.get('usergroup_id')}",
        "channel": f"#{node.get('channel_id')}",
        "broadcast": f"!{node.get('range')}",
    }.get(str(kind))
    if leaf is not None:
        return [_control(leaf, directory, frozenset())]
    if kind == "emoji":
        name = str(node.get("name"))
        return [Span(EMOJI.get(name, f":{name}:"))]
    spans: list[Span] = []
    for child in node.get("elements") or ():
        spans += [Span("• ")] if kind == "rich_text_list" else []
        spans += rich_text(child, directory)
        ends_line = kind in {"rich_text", "rich_text_list"}
        spans += [Span("\n")] if ends_line else []
    return spans


def plain(spans: list[Span]) -> str:
    """Return the text of spans without their look."""
    return "".join(span.text for span in spans)


def cell_spans(cell: Json, directory: Directory) -> list[Span]:
    """Return the spans of one table cell."""
    if cell.get("type") == "rich_text":
        return [Span(plain(rich_text(cell, directory)).strip())]
    if cell.get("type") == "raw_number":
        return [Span(str(cell.get("text") or number(cell.get("value"))))]
    return [Span(str(cell.get("text", "")))]


def number(value: object) -> str:
    """Return a number as a person writes it."""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.2f}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)
