"""How a figure came about, as a Slack message; pure."""

from __future__ import annotations

from bot.views.answers import Json, Message
from bot.views.blocks import bullets, context, header, section
from bot.views.explain_values import Explanation, Line
from bot.views.explain_words import (
    Page,
    accuracy_text,
    headline,
    left_over,
    line_what,
    line_why,
    sections_of,
    through_text,
    where_text,
)
from bot.views.freshness import freshness_line, stale_lines
from bot.views.text import escape, fallback, name, plain
from bot.views.words import amount, instant, plural, window

#: Lines of one message; the next ones are asked for by a button.
LINES_SHOWN = 8
_UNKNOWN_MAX = 5
NOTHING = "Nothing was billed and nothing ran: the figure is made of no lines."


def explained_answer(explained: Explanation, page: Page) -> Message:
    """Render how a figure came about: the sum first, then its lines, largest first."""
    shown = page.of(explained.lines)
    title = f"How computed: {plain(explained.title, most=120)}"
    blocks: list[Json] = [header(title), section(_sum(explained))]
    blocks += _warnings(explained)
    for heading, lines in sections_of(shown, explained):
        told = bullets([_line(line, explained) for line in lines])
        blocks.append(section(f"*{heading[:1].upper()}{heading[1:]}*\n{told}"))
    if not explained.lines:
        blocks.append(section(NOTHING))
    left = left_over(page.left(explained.lines), explained.currency)
    before = f"after the first {page.offset:,}" if page.offset else ""
    paging = ", ".join(text for text in (before, left) if text)
    if paging:
        blocks.append(context(f"{paging[:1].upper()}{paging[1:]}."))
    blocks.append(context(*_small_print(explained)))
    text = f"{fallback(title)}: {headline(explained)}"
    return Message(text=text, blocks=tuple(blocks))


def _sum(explained: Explanation) -> str:
    figure = f"*{headline(explained)}*"
    if explained.per_hour or explained.since == explained.until:
        return f"{figure} as of {instant(explained.as_of)}"
    period = window(explained.since, explained.until)
    count = len(explained.lines)
    parts = f"{amount(explained.billed)} billed + "
    parts += f"{amount(explained.provisional)} provisional"
    if explained.difference.nanos:
        left = amount(explained.difference)
        return (
            f"{figure} from {period} = {parts}\n"
            f":warning: {left} of it is not explained by the lines below: tell an admin"
        )
    whole = f"; {plural(count, 'line')} sum to it exactly" if count > 1 else ""
    return f"{figure} from {period} = {parts}{whole}"


def _line(line: Line, explained: Explanation) -> str:
    currency = explained.currency
    what = name(line_what(line), most=110)
    where = escape(where_text(line, explained), most=60)
    why = escape(line_why(line, currency), most=200)
    place = f" in {where}" if where else ""
    return f"*{amount(line.amount)}*  {what}{place}: {why}"


def _warnings(explained: Explanation) -> list[Json]:
    lines = list(stale_lines(explained.stale, explained.as_of))
    if explained.unknown:
        shown = ", ".join(name(item) for item in explained.unknown[:_UNKNOWN_MAX])
        left = len(explained.unknown) - _UNKNOWN_MAX
        more = f" and {left:,} more" if left > 0 else ""
        lines.append(f"No price known for {shown}{more}: in no line and no total")
    return [section(":warning: " + "\n:warning: ".join(lines))] if lines else []


def _small_print(explained: Explanation) -> list[str]:
    told = f"{explained.metric.value.capitalize()} cost, before credits and refunds"
    lines = [f"{told}; {through_text(explained)}."]
    if explained.since == explained.until:
        lines = []
    lines += [f"{escape(note[:1].upper() + note[1:])}." for note in explained.notes]
    told = accuracy_text(explained)
    lines += [f"{told[:1].upper()}{told[1:]}."] if told else []
    lines.append(freshness_line(explained.sources, explained.as_of))
    return lines
