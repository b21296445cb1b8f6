"""Where a run's money went, and two runs compared, as Slack messages; pure."""

from __future__ import annotations

from datetime import timedelta

from billing.core.leaks import LeakFound
from bot.views.answers import Json, Message
from bot.views.blocks import bullets, columns, context, header, section
from bot.views.efficiency import CompareAnswer, compare_rows, scaling_text
from bot.views.leaks import LeakAnswer, avoidable_line
from bot.views.text import escape, fallback, plain
from bot.views.words import short_day

_NAME_CHARS = 24


def leaks_message(answer: LeakAnswer) -> Message:
    """Render what a run cost and what of it was avoidable, each with its fix."""
    cost = answer.cost
    line = avoidable_line(answer)
    title = f"{plain(cost.job, most=80)}: {cost.total}, {line}"
    known = [one for one in answer.leaks if one.amount is not None and one.amount.nanos]
    missing = [one for one in answer.leaks if one.missing]
    blocks: list[Json] = [
        header(f"{plain(cost.job, most=80)}: where {cost.total} went"),
        section(f"*{escape(line[:1].upper() + line[1:])}*"),
        section(columns([(one.key, str(one.total)) for one in cost.groups])),
    ]
    if known:
        blocks.append(section(bullets([_leak(one) for one in known])))
    if missing:
        lines = [f"{one.leak.value}: {escape(one.missing)}" for one in missing]
        blocks.append(section(f"*Not known*\n{bullets(lines)}"))
    if answer.commitment_unused.nanos:
        told = f"Beside it, commitments nobody used cost {answer.commitment_unused}."
        blocks.append(context(told))
    last = (cost.until - timedelta(microseconds=1)).date()
    span = f"{short_day(cost.since.date())} to {short_day(last)}"
    blocks.append(context(f"{span}, before credits. The lines sum to the total."))
    return Message(text=fallback(title, most=140), blocks=tuple(blocks))


def _leak(one: LeakFound) -> str:
    least = "at least " if one.missing else ""
    why = f": {escape('; '.join(one.evidence), most=300)}" if one.evidence else ""
    return f"*{least}{one.amount}* {one.leak.value}{why}\n_Fix: {escape(one.fix)}_"


def compare_message(answer: CompareAnswer) -> Message:
    """Render two runs side by side."""
    first, second = (one.efficiency.facts.job for one in answer.runs)
    title = f"{plain(first, most=60)} and {plain(second, most=60)}"
    head = ("", *(plain(one, most=_NAME_CHARS) for one in (first, second)))
    notes = [
        f"{escape(one.efficiency.facts.job, most=80)}: {escape(one.efficiency.missing)}"
        for one in answer.runs
        if one.efficiency.missing
    ]
    blocks: list[Json] = [
        header(title),
        section(columns([head, *compare_rows(answer)])),
        section(escape(scaling_text(answer))),
    ]
    if notes:
        blocks.append(context(*notes))
    return Message(text=fallback(f"Comparing {title}", most=140), blocks=tuple(blocks))
