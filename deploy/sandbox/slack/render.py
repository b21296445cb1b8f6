"""Messages as readable text, about as they would look in Slack.

For the demo and for failing tests. Pure: messages in, text out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from deploy.sandbox.slack.charts import chart_rows
from deploy.sandbox.slack.directory import Directory
from deploy.sandbox.slack.messages import Message, View
from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.mrkdwn import (
    Span,
    cell_spans,
    from_markdown,
    plain,
    rich_text,
    spans_of,
    text_object,
)

WIDTH = 88
_GUTTER = "  "
_CELL_MIN = 6
_BAR_MAX = 30
_ANSI = {
    "bold": "1",
    "code": "36",
    "italic": "3",
    "link": "34;4",
    "mention": "34",
    "pre": "36",
    "ring": "33",
    "strike": "9",
}


class TextRenderer:
    """Draws blocks as lines of at most `width` characters."""

    def __init__(
        self, directory: Directory, *, width: int = WIDTH, has_colour: bool = False
    ) -> None:
        self._directory = directory
        self._width = width
        self._has_colour = has_colour
        self._drawers: dict[str, Callable[[Json], list[str]]] = {
            "actions": self._actions,
            "context": self._context,
            "data_table": self._table,
            "data_visualization": self._chart,
            "divider": lambda _block: ["─" * self._width],
            "header": self._header,
            "image": self._image,
            "input": self._input,
            "markdown": self._markdown,
            "rich_text": lambda block: self._lines(rich_text(block, directory)),
            "section": self._section,
            "table": self._table,
        }

    def blocks(self, blocks: Iterable[Json]) -> list[str]:
        """Draw blocks below each other."""
        lines: list[str] = []
        for block in blocks:
            draw = self._drawers.get(str(block.get("type")))
            lines += draw(block) if draw else [f"[{block.get('type')}]"]
        return lines

    def text(self, text: str) -> list[str]:
        """Draw a text in mrkdwn."""
        return self._lines(list(spans_of(text, self._directory)))

    def _lines(self, spans: Sequence[Span], width: int | None = None) -> list[str]:
        wrapped = wrap(spans, width or self._width)
        return ["".join(self._paint(span) for span in line) for line in wrapped]

    def _paint(self, span: Span) -> str:
        text = span.text
        if "link" in span.styles and span.href and span.href != text:
            text = text if self._has_colour else f"{text} <{span.href}>"
        codes = [code for style, code in _ANSI.items() if style in span.styles]
        if not self._has_colour or not codes:
            return text
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"

    def _header(self, block: Json) -> list[str]:
        text = plain(text_object(block.get("text"), self._directory))
        return self._lines([Span(text, frozenset({"bold"}))])

    def _section(self, block: Json) -> list[str]:
        lines = self._lines(text_object(block.get("text"), self._directory))
        lines += self._fields(block.get("fields") or [])
        if block.get("accessory"):
            lines.append(self._element(block["accessory"]))
        return lines

    def _fields(self, fields: Sequence[Json]) -> list[str]:
        half = self._width // 2
        lines: list[str] = []
        for index in range(0, len(fields), 2):
            columns = [
                wrap(text_object(item, self._directory), half - 2)
                for item in fields[index : index + 2]
            ]
            for row in range(max(len(column) for column in columns)):
                line = ""
                for column in columns:
                    cell = column[row] if row < len(column) else []
                    pad = " " * max(half - len(plain(list(cell))), 0)
                    line += "".join(self._paint(span) for span in cell) + pad
                lines.append(line.rstrip())
        return lines

    def _context(self, block: Json) -> list[str]:
        spans: list[Span] = []
        for element in block.get("elements") or ():
            spans += [Span("  ·  ")] if spans else []
            is_image = element.get("type") == "image"
            alt = f"[{element.get('alt_text')}]"
            spans += [Span(alt)] if is_image else text_object(element, self._directory)
        return self._lines(spans)

    def _actions(self, block: Json) -> list[str]:
        labels = [self._element(element) for element in block.get("elements") or ()]
        lines: list[str] = []
        for label in labels:
            if lines and len(lines[-1]) + len(label) + 2 <= self._width:
                lines[-1] += f"  {label}"
            else:
                lines.append(label)
        return lines

    def _element(self, element: Json) -> str:
        return f"[ {element_label(element, self._directory)} ]"

    def _input(self, block: Json) -> list[str]:
        label = plain(text_object(block.get("label"), self._directory))
        element = block.get("element") or {}
        return [f"{label}:", f"  [ {element_label(element, self._directory)} ]"]

    def _image(self, block: Json) -> list[str]:
        return self._lines([Span(f"[image: {block.get('alt_text', '')}]")])

    def _markdown(self, block: Json) -> list[str]:
        return self.text(from_markdown(str(block.get("text", ""))))

    def _table(self, block: Json) -> list[str]:
        rows = block.get("rows") or []
        texts = [
            [plain(cell_spans(cell, self._directory)) for cell in row] for row in rows
        ]
        widths = fit_columns(texts, self._width)
        right = [
            all(row[column].get("type") == "raw_number" for row in rows[1:])
            for column in range(len(widths))
        ]
        lines = [f"{block['caption']}"] if block.get("caption") else []
        for index, row in enumerate(texts):
            cells = [
                shorten(text, widths[column]).rjust(widths[column])
                if right[column]
                else shorten(text, widths[column]).ljust(widths[column])
                for column, text in enumerate(row)
            ]
            lines.append("  ".join(cells).rstrip())
            if index == 0:
                lines.append("  ".join("─" * width for width in widths))
        return lines

    def _chart(self, block: Json) -> list[str]:
        rows = chart_rows(block.get("chart") or {})
        label_width = max((len(row.label) for row in rows), default=0)
        value_width = max((len(row.value) for row in rows), default=0)
        lines = self._lines([Span(str(block.get("title")), frozenset({"bold"}))])
        for row in rows:
            bar = "█" * round(row.share * _BAR_MAX) or "▏"
            value = row.value.rjust(value_width)
            lines.append(f"{row.label.ljust(label_width)}  {value}  {bar}")
        return lines


def element_label(element: Json, directory: Directory) -> str:
    """Return what a button, a menu or an input shows."""
    kind = str(element.get("type"))
    if kind == "button":
        return plain(text_object(element.get("text"), directory))
    if kind == "overflow":
        return "⋯"
    if kind == "image":
        return str(element.get("alt_text", ""))
    if kind in {"checkboxes", "radio_buttons"}:
        options = element.get("options") or ()
        return " / ".join(
            plain(text_object(item.get("text"), directory)) for item in options
        )
    return _menu_label(element, directory)


def _menu_label(element: Json, directory: Directory) -> str:
    kind = str(element.get("type"))
    chosen = element.get("initial_option") or {}
    holder = chosen.get("text") or element.get("placeholder")
    text = plain(text_object(holder, directory)) or str(
        element.get("initial_value") or ""
    )
    is_menu = kind.endswith(("select", "picker"))
    return f"{text} ▾".strip() if is_menu else text or "          "


def wrap(spans: Sequence[Span], width: int) -> list[list[Span]]:
    """Break spans into lines of at most `width`; preformatted lines stay whole."""
    lines: list[list[Span]] = [[]]
    used = 0
    for span in spans:
        for index, part in enumerate(span.text.split("\n")):
            if index:
                lines.append([])
                used = 0
            for word in _words(part, span):
                size = len(word)
                if used and used + size > width:
                    lines.append([])
                    used = 0
                    word = word.lstrip()  # noqa: PLW2901 - a line starts at its word
                lines[-1].append(Span(word, span.styles, span.href))
                used += len(word)
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _words(text: str, span: Span) -> list[str]:
    if "pre" in span.styles or "link" in span.styles:
        return [text] if text else []
    words: list[str] = []
    for piece in text.split(" "):
        words.append(f" {piece}" if words else piece)
    return [word for word in words if word]


def fit_columns(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return column widths that fit: the widest gives way first."""
    if not rows:
        return []
    widths = [max(len(text) for text in column) for column in zip(*rows, strict=False)]
    room = width - 2 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _CELL_MIN:
        widths[widths.index(max(widths))] -= 1
    return widths


def shorten(text: str, width: int) -> str:
    """Cut a text that is too long, with a mark."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def clock_time(ts: str) -> str:
    """Return the UTC time of a timestamp as hours and minutes."""
    return datetime.fromtimestamp(int(ts.partition(".")[0]), UTC).strftime("%H:%M")


def render_message(
    message: Message,
    directory: Directory,
    *,
    width: int = WIDTH,
    has_colour: bool = False,
) -> str:
    """Draw one message with its author, time and content."""
    renderer = TextRenderer(
        directory, width=width - len(_GUTTER), has_colour=has_colour
    )
    person = directory.person(message.user)
    name = person.real_name or person.name if person else message.user
    marks = " APP" if message.bot_id else ""
    marks += f"  {clock_time(message.ts)}"
    marks += "  (edited)" if message.edited_ts else ""
    if message.ephemeral_to is not None:
        marks += "  · Only visible to you"
    lines = (
        renderer.blocks(message.blocks)
        if message.blocks
        else renderer.text(message.text)
    )
    for item in message.attachments:
        lines += renderer.blocks(item.get("blocks") or ())
        lines += renderer.text(str(item.get("text") or ""))
    lines += [f"[file: {file['name']}]" for file in message.files]
    head = f"\x1b[1m{name}\x1b[0m{marks}" if has_colour else f"{name}{marks}"
    return "\n".join([head, *(f"{_GUTTER}{line}".rstrip() for line in lines)])


def render_view(
    view: View, directory: Directory, *, width: int = WIDTH, has_colour: bool = False
) -> str:
    """Draw a form or a home tab."""
    renderer = TextRenderer(directory, width=width, has_colour=has_colour)
    title = plain(text_object(view.body.get("title"), directory)) or "Home"
    lines = [f"┌ {title}", *renderer.blocks(view.blocks)]
    lines += [f"! {block}: {text}" for block, text in view.errors.items()]
    submit = plain(text_object(view.body.get("submit"), directory))
    return "\n".join([*lines, f"└ [ {submit} ]" if submit else "└"])


def render_channel(
    messages: Iterable[Message], directory: Directory, *, has_colour: bool = False
) -> str:
    """Draw messages below each other; replies are set in under their parent."""
    ordered = list(messages)
    known = {message.ts for message in ordered}
    parts: list[str] = []
    for message in ordered:
        if message.is_reply and message.thread_ts in known:
            continue
        parts.append(render_message(message, directory, has_colour=has_colour))
        replies = [item for item in ordered if item.thread_ts == message.ts]
        for reply in (item for item in replies if item.is_reply):
            text = render_message(
                reply, directory, width=WIDTH - 4, has_colour=has_colour
            )
            parts.append("\n".join(f"  │ {line}" for line in text.splitlines()))
    return "\n\n".join(parts) + "\n" if parts else ""
