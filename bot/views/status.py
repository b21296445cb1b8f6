"""Lists of findings for a question (idle, coverage, checkpoints), and the pause."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.views.alert import evidence_line, kind_name, subject_line
from bot.views.answers import Json, Message
from bot.views.blocks import bullets, context, header, section
from bot.views.people import People, who
from bot.views.text import escape, fallback, name
from bot.views.words import ago, amount, instant, plural
from policies.core.finding import Finding, Unknown

_FINDINGS_MAX = 15
_UNKNOWN_MAX = 5
_EVIDENCE_MAX = 3


def findings_list(
    kind: str,
    findings: Sequence[Finding],
    unknown: Sequence[Unknown],
    *,
    as_of: datetime,
    now: datetime,
) -> Message:
    """Render what one kind of policy found, and what it could not judge."""
    label = kind_name(kind)
    count = plural(len(findings), "finding")
    title = f"{label}: {count}" if findings else f"{label}: nothing found"
    blocks: list[Json] = [header(title)]
    blocks += [section(_finding(one)) for one in findings[:_FINDINGS_MAX]]
    left = len(findings) - _FINDINGS_MAX
    if left > 0:
        blocks.append(context(f"… and {left:,} more"))
    blocks += _unknown(unknown)
    blocks.append(context(f"Judged {instant(as_of)}, {ago(as_of, now)}."))
    return Message(text=fallback(title, most=140), blocks=tuple(blocks))


def _finding(finding: Finding) -> str:
    stake = finding.cost_at_stake
    cost = "amount unknown" if stake is None else f"{amount(stake)} at stake"
    is_other = finding.job and finding.subject.type != "job"
    job = f", job {name(finding.job)}" if is_other else ""
    why = [evidence_line(one) for one in finding.evidence[:_EVIDENCE_MAX]]
    first = f"*{cost}*: {subject_line(finding.subject)}{job}"
    said = escape(finding.explanation[0], most=300) if finding.explanation else ""
    return "\n".join(part for part in (first, said, bullets(why)) if part)


def _unknown(unknown: Sequence[Unknown]) -> list[Json]:
    if not unknown:
        return []
    lines = [
        f"{subject_line(one.subject)}: {escape(one.missing, most=160)} missing"
        for one in unknown[:_UNKNOWN_MAX]
    ]
    left = len(unknown) - _UNKNOWN_MAX
    if left > 0:
        lines.append(f"and {left:,} more")
    title = "*Could not be judged* (unknown is not idle)"
    return [section(f"{title}\n{bullets(lines)}")]


def paused(by: str, *, since: datetime, reason: str, people: People) -> Message:
    """Say that actions are paused, by whom, since when and why."""
    why = f": {escape(reason, most=300)}" if reason else ""
    text = f"Actions are paused by {who(by, people)} since {instant(since)}{why}"
    more = "Answers, alerts and approvals go on; nothing in AWS is changed."
    return Message(
        text=text, blocks=(section(f":double_vertical_bar: {text}\n{more}"),)
    )


def resumed(by: str, *, at: datetime, people: People) -> Message:
    """Say that actions are allowed again."""
    text = f"Actions are allowed again by {who(by, people)} at {instant(at)}"
    return Message(text=text, blocks=(section(f":arrow_forward: {text}"),))
