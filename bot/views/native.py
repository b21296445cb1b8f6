"""Charts and tables as Slack's own blocks, and as text where Slack has none.

``without_native`` turns a message's data blocks into text, for workspaces that
refuse them. Cells and labels are plain text for Slack; nothing in them is parsed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from billing.core.money import NANOS_PER_UNIT, Money
from bot.views.answers import Json
from bot.views.blocks import columns, section
from bot.views.limits import (
    CHART_LABEL_CHARS_MAX,
    CHART_POINTS_MAX,
    CHART_TITLE_CHARS_MAX,
    SECTION_CHARS_MAX,
)
from bot.views.text import entities, plain
from bot.views.words import amount, whole

NATIVE = frozenset({"data_table", "data_visualization"})
#: Characters of the longest bar of a chart drawn as text.
_BAR_CHARS = 16
#: Rows of a table drawn as text; fewer when they are long.
_FALLBACK_ROWS_MAX = 25

Cell = str | Money


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Json:
    """Return a table; amounts sort as numbers."""
    body = [[_cell(cell) for cell in row] for row in rows]
    return {
        "type": "data_table",
        "caption": plain(caption, most=200) or "-",
        "page_size": 10,
        "rows": [[_cell(title) for title in head], *body],
    }


def _cell(value: Cell) -> Json:
    if isinstance(value, Money):
        return {"type": "raw_number", "value": _figure(value), "text": amount(value)}
    return {"type": "raw_text", "text": plain(value, most=80) or "-"}


def _figure(money: Money) -> float:
    """Return an amount as the JSON number that a picture or a sort needs."""
    return float(round(Fraction(money.nanos, NANOS_PER_UNIT), 2))


def bar_chart(
    title: str, points: Sequence[tuple[str, Money]], *, series: str, unit: str
) -> Json:
    """Return bars, oldest first; the newest 20 when there are more."""
    shown = _unique(points[-CHART_POINTS_MAX:])
    return {
        "type": "data_visualization",
        "title": plain(title, most=CHART_TITLE_CHARS_MAX) or "-",
        "chart": {
            "type": "bar",
            "axis_config": {
                "categories": [label for label, _ in shown],
                "y_label": plain(unit, most=CHART_TITLE_CHARS_MAX),
            },
            "series": [
                {
                    "name": plain(series, most=CHART_LABEL_CHARS_MAX),
                    "data": [
                        {"label": label, "value": _figure(value)}
                        for label, value in shown
                    ],
                }
            ],
        },
    }


def _unique(points: Sequence[tuple[str, Money]]) -> list[tuple[str, Money]]:
    """Shorten labels, keeping every one different from those before it."""
    shown: list[tuple[str, Money]] = []
    seen: set[str] = set()
    for label, value in points:
        short = plain(label, most=CHART_LABEL_CHARS_MAX) or "-"
        number = 2
        while short in seen:
            suffix = f" {number}"
            room = CHART_LABEL_CHARS_MAX - len(suffix)
            short = plain(label, most=room) + suffix
            number += 1
        seen.add(short)
        shown.append((short, value))
    return shown


def bars(points: Sequence[tuple[str, Money]]) -> str:
    """Draw amounts as text bars in a code block; all equal or all zero still draws.

    >>> print(bars([("Mon", Money.of("10")), ("Tue", Money.of("5"))]))
    ```
    Mon  ████████████████  $10
    Tue  ████████           $5
    ```
    """
    most = max((value.nanos for _, value in points), default=0)
    return columns(
        [(label, _bar(value.nanos, most), whole(value)) for label, value in points],
        texts=2,
    )


def _bar(nanos: int, most: int) -> str:
    if most <= 0 or nanos <= 0:
        return ""
    return "█" * max(1, round(Fraction(nanos * _BAR_CHARS, most)))


def has_native(blocks: Sequence[Json]) -> bool:
    """Tell whether any block needs a workspace with data blocks."""
    return any(block.get("type") in NATIVE for block in blocks)


def without_native(blocks: Sequence[Json]) -> list[Json]:
    """Return the same message with its charts and tables as text."""
    return [
        _as_text(block) if block.get("type") in NATIVE else block for block in blocks
    ]


def _as_text(block: Json) -> Json:
    if block["type"] == "data_table":
        rows = [[str(cell.get("text", "")) for cell in row] for row in block["rows"]]
        return section(_table_text(str(block["caption"]), rows))
    chart = block["chart"]
    points = [
        (str(point["label"]), Money(round(point["value"] * NANOS_PER_UNIT)))
        for point in chart["series"][0]["data"]
    ]
    return section(f"*{entities(block['title'])}*\n{bars(points)}")


def _table_text(caption: str, rows: Sequence[Sequence[str]]) -> str:
    """Draw as many rows as one paragraph holds, and say how many are left."""
    title = f"*{entities(plain(caption, most=200))}*"
    for count in range(min(len(rows) - 1, _FALLBACK_ROWS_MAX), 0, -1):
        left = len(rows) - 1 - count
        more = f"\n… and {left:,} more" if left else ""
        text = f"{title}\n{columns(rows[: count + 1])}{more}"
        if len(text) <= SECTION_CHARS_MAX:
            return text
    return title
