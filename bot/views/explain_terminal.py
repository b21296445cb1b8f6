"""An explanation as text for a terminal; pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.views.explain_values import Explanation, Line
from bot.views.explain_words import (
    Page,
    accuracy_text,
    headline,
    left_over,
    line_what,
    line_why,
    sections_of,
    where_text,
)
from bot.views.terminal import clean, table, when
from bot.views.words import window

NOTHING = "nothing was billed and nothing ran: the figure is made of no lines"


def explanation_text(explained: Explanation, page: Page) -> str:
    """Return what `gpucost explain` prints."""
    shown = page.of(explained.lines)
    parts = [_head(explained)]
    for title, lines in sections_of(shown, explained):
        parts.append(f"{title}\n{_lines(lines, explained)}")
    if not explained.lines:
        parts.append(NOTHING)
    left = left_over(page.left(explained.lines), explained.currency)
    if left:
        after = page.offset + len(shown)
        parts.append(f"{left}: --offset {after} shows them")
    parts += [_unknown(explained), accuracy_text(explained), _sources(explained)]
    return "\n\n".join(part for part in parts if part)


def _head(explained: Explanation) -> str:
    if explained.per_hour or explained.since == explained.until:
        period = f"as of {when(explained.as_of)}"
        return clean(f"{explained.title}: {headline(explained)}, {period}")
    period = window(explained.since, explained.until)
    kind = f"{explained.metric.value} cost"
    first = f"{explained.title}: {headline(explained)} {kind}, {period}"
    second = f"= {explained.billed} billed + {explained.provisional} provisional"
    count = len(explained.lines)
    if explained.difference.nanos:
        second += f"; {explained.difference} IS NOT EXPLAINED by the lines: report it"
    elif count > 1:
        second += f", the sum of the {count} lines below"
    return f"{clean(first)}\n{second}"


def _lines(lines: Sequence[Line], explained: Explanation) -> str:
    currency = explained.currency
    rows = [
        (
            f"  {line.amount}",
            line_what(line),
            where_text(line, explained),
            line_why(line, currency),
        )
        for line in lines
    ]
    return table(rows, right=frozenset({0}))


def _unknown(explained: Explanation) -> str:
    lines = [f"not priced, in no line: {one}" for one in explained.unknown]
    return "\n".join(clean(line) for line in lines)


def _sources(explained: Explanation) -> str:
    if not explained.sources:
        return "nothing was read yet: run `gpucost ingest`"
    rows = [
        (
            f"  {one.source.value}",
            one.account or "all accounts",
            f"read {when(one.as_of)}" if one.as_of else "never read",
            one.reason,
        )
        for one in explained.sources
    ]
    return f"sources\n{table(rows)}"
