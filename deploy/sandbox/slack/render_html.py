"""Messages as one static HTML page in the look of Slack, for screenshots.

Self-contained: no script, no font and no picture from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

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
from deploy.sandbox.slack.render import clock_time, element_label

_STYLE = """
body{font:15px/1.46 Lato,"Helvetica Neue",Arial,sans-serif;color:#1d1c1d;margin:0}
h1{font-size:18px;border-bottom:1px solid #ddd;margin:0;padding:14px 20px}
main{max-width:760px;padding:8px 20px}
.m{display:flex;gap:10px;padding:8px 0}.m.r{margin-left:46px}
.m.e{background:#f8f8f8}.a{flex:none;width:36px;height:36px;border-radius:6px;
background:#4a154b;color:#fff;font-weight:700;text-align:center;line-height:36px}
.a.p{background:#1d9bd1}.c{flex:1;min-width:0}.n{font-weight:900}
.t,.v,.k{color:#616061;font-size:12px}.app{background:#ddd;border-radius:2px;
font-size:10px;font-weight:700;padding:1px 3px;margin:0 4px}
.b{margin:4px 0;white-space:pre-wrap;overflow-wrap:anywhere}
.h{font-size:18px;font-weight:900}
.f{display:grid;grid-template-columns:1fr 1fr;gap:6px 16px}
.f>div{white-space:pre-wrap}
hr{border:0;border-top:1px solid #ddd;margin:10px 0}
code,pre{font:12px/1.5 Monaco,Menlo,Consolas,monospace;background:#f6f6f6;
border:1px solid #ddd;border-radius:3px}code{color:#c01343;padding:1px 3px}
pre{padding:8px;margin:4px 0;white-space:pre-wrap}
.u{background:#e8f5fa;color:#1264a3;border-radius:3px;padding:0 2px}
.u.ring{background:#fef4d5}a{color:#1264a3}
.btn{display:inline-block;border:1px solid #bbb;border-radius:4px;padding:4px 12px;
margin:4px 8px 4px 0;font-weight:700;background:#fff}
.btn.primary{background:#007a5a;color:#fff;border-color:#007a5a}
.btn.danger{background:#e01e5a;color:#fff;border-color:#e01e5a}
table{border-collapse:collapse;margin:6px 0;font-size:13px}
caption{text-align:left;font-weight:700;padding:4px 0}
td,th{border:1px solid #ddd;padding:4px 10px;text-align:left}
th{background:#f8f8f8}.num{text-align:right;font-variant-numeric:tabular-nums}
.g{display:grid;grid-template-columns:max-content max-content 1fr;gap:3px 10px;
font-size:13px;align-items:center}.bar{height:14px;border-radius:2px;min-width:2px}
"""
_COLOURS = ("#1264a3", "#007a5a", "#e8912d", "#e01e5a", "#7c3aed", "#5c6a78")
_TAGS = {"bold": "b", "italic": "i", "strike": "s", "code": "code", "pre": "pre"}
_SAFE_LINKS = ("https://", "http://", "mailto:")


class HtmlRenderer:
    """Draws blocks as HTML."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._drawers: dict[str, Callable[[Json], str]] = {
            "actions": self._actions,
            "context": self._context,
            "data_table": self._table,
            "data_visualization": self._chart,
            "divider": lambda _block: "<hr>",
            "header": self._header,
            "image": self._image,
            "input": self._input,
            "markdown": self._markdown,
            "rich_text": lambda block: _block(spans_html(rich_text(block, directory))),
            "section": self._section,
            "table": self._table,
        }

    def blocks(self, blocks: Iterable[Json]) -> str:
        """Draw blocks below each other."""
        parts = []
        for block in blocks:
            kind = str(block.get("type"))
            draw = self._drawers.get(kind)
            parts.append(draw(block) if draw else _block(f"[{escape(kind)}]"))
        return "".join(parts)

    def text(self, text: str) -> str:
        """Draw a text in mrkdwn."""
        return _block(spans_html(spans_of(text, self._directory)))

    def _object(self, value: Json | None) -> str:
        return spans_html(text_object(value, self._directory))

    def _header(self, block: Json) -> str:
        return f'<div class="b h">{self._object(block.get("text"))}</div>'

    def _section(self, block: Json) -> str:
        parts = _block(self._object(block["text"])) if block.get("text") else ""
        fields = block.get("fields") or ()
        if fields:
            cells = "".join(f"<div>{self._object(item)}</div>" for item in fields)
            parts += f'<div class="b f">{cells}</div>'
        if block.get("accessory"):
            parts += self._element(block["accessory"])
        return parts

    def _context(self, block: Json) -> str:
        parts = [
            escape(f"[{element.get('alt_text')}]")
            if element.get("type") == "image"
            else self._object(element)
            for element in block.get("elements") or ()
        ]
        return f'<div class="b k">{" &nbsp; ".join(parts)}</div>'

    def _actions(self, block: Json) -> str:
        return "".join(self._element(item) for item in block.get("elements") or ())

    def _element(self, element: Json) -> str:
        style = str(element.get("style") or "")
        label = escape(element_label(element, self._directory))
        return f'<span class="btn {escape(style)}">{label}</span>'

    def _input(self, block: Json) -> str:
        label = f"<b>{self._object(block.get('label'))}</b>"
        return _block(f"{label}<br>{self._element(block.get('element') or {})}")

    def _image(self, block: Json) -> str:
        return _block(f"[image: {escape(str(block.get('alt_text', '')))}]")

    def _markdown(self, block: Json) -> str:
        return self.text(from_markdown(str(block.get("text", ""))))

    def _table(self, block: Json) -> str:
        rows = []
        for index, row in enumerate(block.get("rows") or ()):
            tag = "td" if index else "th"
            cells = ""
            for cell in row:
                is_number = cell.get("type") == "raw_number"
                look = ' class="num"' if is_number else ""
                text = escape(plain(cell_spans(cell, self._directory)))
                cells += f"<{tag}{look}>{text}</{tag}>"
            rows.append(f"<tr>{cells}</tr>")
        caption = escape(str(block.get("caption") or ""))
        return f"<table><caption>{caption}</caption>{''.join(rows)}</table>"

    def _chart(self, block: Json) -> str:
        bars = ""
        for row in chart_rows(block.get("chart") or {}):
            colour = _COLOURS[row.series % len(_COLOURS)]
            look = f"width:{row.share * 100:.1f}%;background:{colour}"
            bars += (
                f'<div>{escape(row.label)}</div><div class="num">{escape(row.value)}'
                f'</div><div><div class="bar" style="{look}"></div></div>'
            )
        title = escape(str(block.get("title") or ""))
        return f'<div class="b"><b>{title}</b></div><div class="g">{bars}</div>'


def _block(inner: str) -> str:
    return f'<div class="b">{inner}</div>'


def spans_html(spans: Iterable[Span]) -> str:
    """Return spans as escaped HTML; only web and mail links become links."""
    return "".join(_span(span) for span in spans)


def _span(span: Span) -> str:
    html = escape(span.text)
    for style, tag in _TAGS.items():
        if style in span.styles:
            html = f"<{tag}>{html}</{tag}>"
    if "mention" in span.styles:
        ring = " ring" if "ring" in span.styles else ""
        html = f'<span class="u{ring}">{html}</span>'
    if span.href and span.href.startswith(_SAFE_LINKS):
        html = f'<a href="{escape(span.href)}">{html}</a>'
    return html


def _message(message: Message, renderer: HtmlRenderer, directory: Directory) -> str:
    person = directory.person(message.user)
    name = (person.real_name or person.name) if person else message.user
    kind = "m"
    kind += " r" if message.is_reply else ""
    kind += " e" if message.ephemeral_to else ""
    body = (
        renderer.blocks(message.blocks)
        if message.blocks
        else renderer.text(message.text)
    )
    for item in message.attachments:
        body += renderer.blocks(item.get("blocks") or ())
        body += renderer.text(str(item.get("text") or ""))
    body += "".join(_block(f"📄 {escape(file['name'])}") for file in message.files)
    only_you = (
        '<div class="v">Only visible to you</div>' if message.ephemeral_to else ""
    )
    app = '<span class="app">APP</span>' if message.bot_id else ""
    face = "a" if message.bot_id else "a p"
    edited = ' <span class="t">(edited)</span>' if message.edited_ts else ""
    return (
        f'<div class="{kind}"><div class="{face}">{escape(name[:1].upper())}</div>'
        f'<div class="c">{only_you}<span class="n">{escape(name)}</span>{app} '
        f'<span class="t">{clock_time(message.ts)}</span>{edited}{body}</div></div>'
    )


def render_page(
    messages: Sequence[Message], directory: Directory, *, title: str
) -> str:
    """Return a whole page with messages; replies follow their parent."""
    renderer = HtmlRenderer(directory)
    ordered = sorted(messages, key=lambda item: (item.thread_ts or item.ts, item.ts))
    body = "".join(_message(item, renderer, directory) for item in ordered)
    return _whole_page(f"# {title}", body)


def render_view_page(view: View, directory: Directory) -> str:
    """Return a whole page with a form or a home tab."""
    renderer = HtmlRenderer(directory)
    title = plain(text_object(view.body.get("title"), directory)) or "Home"
    errors = "".join(
        _block(f"⚠ {escape(block)}: {escape(text)}")
        for block, text in view.errors.items()
    )
    submit = view.body.get("submit")
    label = escape(plain(text_object(submit, directory)))
    button = f'<span class="btn primary">{label}</span>' if submit else ""
    return _whole_page(title, renderer.blocks(view.blocks) + errors + button)


def _whole_page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1><main>{body}</main></body></html>"
    )
