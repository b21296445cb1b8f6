"""Idle GPUs, commitments and checkpoints as Slack messages; pure."""

from __future__ import annotations

from bot.views.answers import Json, Message
from bot.views.blocks import bullets, columns, context, header, section
from bot.views.facts_values import (
    CheckpointsAnswer,
    CoverageAnswer,
    IdleAnswer,
    IdleItem,
)
from bot.views.facts_words import (
    NO_FAMILIES,
    NO_INSTANCES,
    NO_LOCATIONS,
    idle_headline,
    idle_why,
    pct,
    signal_name,
    steps_text,
)
from bot.views.text import escape, fallback, name
from bot.views.words import (
    DAY,
    ago,
    amount,
    binary_size,
    days_of,
    duration,
    listed,
    plural,
)

_SHOWN_MAX = 10
_FAILURES_MAX = 3
_HEADINGS = {
    "idle": "Idle",
    "unknown": "Unknown (which is not idle)",
    "busy": "Busy",
}


def idle_message(answer: IdleAnswer) -> Message:
    """Render running GPU instances, the idle ones first."""
    if not answer.items:
        return _nothing(NO_INSTANCES)
    title = idle_headline(answer)
    blocks: list[Json] = [header(title[:1].upper() + title[1:])]
    for state, heading in _HEADINGS.items():
        found = [one for one in answer.items if one.state == state]
        if not found:
            continue
        most = _SHOWN_MAX if state == "idle" else _SHOWN_MAX // 2
        lines = [_idle_line(one) for one in found[:most]]
        left = len(found) - most
        if left > 0:
            lines.append(f"and {left:,} more")
        blocks.append(section(f"*{heading}*\n{bullets(lines)}"))
    blocks += _not_read(answer.failures)
    limits = ", ".join(
        f"{signal_name(key)} {escape(limit)}"
        for key, limit in answer.items[0].limits.items()
    )
    read = f" Fleet read {ago(answer.as_of, answer.now)}." if answer.as_of else ""
    small = f"Quiet means {limits}, all the time, for {duration(answer.window)}.{read}"
    blocks.append(context(small))
    return Message(text=fallback(title, most=140), blocks=tuple(blocks))


def _idle_line(one: IdleItem) -> str:
    job = f", job {name(one.job)}" if one.job else ", no job"
    rate = "price unknown" if one.rate is None else str(one.rate)
    what = f"{name(one.resource_id)} {escape(one.instance_type, most=40)}"
    return f"*{rate}*  {what}{job}: {escape(idle_why(one), most=200)}"


def coverage_message(answer: CoverageAnswer) -> Message:
    """Render what commitments cover, by family."""
    if not answer.items and not answer.missing:
        return _nothing(NO_FAMILIES)
    title = f"Commitments, {days_of(answer.since, answer.until)}"
    blocks: list[Json] = [header(title)]
    if answer.items:
        head = ("family", "covered", "baseline", "used", "not covered")
        rows = [
            (
                one.family,
                pct(one.covered_pct),
                pct(one.baseline_covered_pct),
                pct(one.utilization_pct, none="none"),
                amount(one.open_),
            )
            for one in answer.items[:_SHOWN_MAX]
        ]
        blocks.append(section(columns([head, *rows])))
    if answer.missing:
        names = ", ".join(name(one) for one in answer.missing[:_SHOWN_MAX])
        blocks.append(section(f"No eligible use of {names} in these days"))
    blocks.append(
        context(
            "Covered: share of eligible spend at on-demand prices. Baseline: share of"
            " the use that is always there. Used: share of the commitments themselves."
        )
    )
    return Message(text=fallback(title, most=140), blocks=tuple(blocks))


def checkpoints_message(answer: CheckpointsAnswer) -> Message:
    """Render checkpoints by job, largest first."""
    if not answer.locations:
        return _nothing(NO_LOCATIONS)
    size = binary_size(sum(one.size_bytes for one in answer.items))
    count = sum(one.checkpoints for one in answer.items)
    title = f"{plural(count, 'checkpoint')}, {size}"
    blocks: list[Json] = [header(title)]
    lines = [
        f"*{binary_size(one.size_bytes)}*  {name(one.job or '(no job)')}:"
        f" {plural(one.checkpoints, 'checkpoint')},"
        f" {steps_text(one.first_step, one.last_step)},"
        f" {days_of(one.oldest_at.date(), one.newest_at.date() + DAY)},"
        f" {amount(one.per_month) + ' a month' if one.per_month else 'price unknown'}"
        for one in answer.items[:_SHOWN_MAX]
    ]
    left = len(answer.items) - _SHOWN_MAX
    if left > 0:
        lines.append(f"and {plural(left, 'more job')}")
    if lines:
        blocks.append(section(bullets(lines)))
    blocks += _not_read(answer.failures)
    where = escape(listed(answer.locations, most=3), most=300)
    blocks.append(context(f"In {where}. At {escape(answer.price)}."))
    return Message(text=fallback(title, most=140), blocks=tuple(blocks))


def _nothing(text: str) -> Message:
    said = f"{text[:1].upper()}{text[1:]}."
    return Message(text=said, blocks=(section(escape(said)),))


def _not_read(failures: tuple[str, ...]) -> list[Json]:
    if not failures:
        return []
    shown = [escape(one, most=200) for one in failures[:_FAILURES_MAX]]
    left = len(failures) - _FAILURES_MAX
    if left > 0:
        shown.append(f"and {left:,} more")
    return [section(":warning: Not read: " + "\n:warning: ".join(shown))]
