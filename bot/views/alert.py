"""A finding as people see it: who should look, what is wrong, why, and what is next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from billing.core.money import Money
from bot.views.answers import Json, Message
from bot.views.blocks import bullets, context, fields, header, section
from bot.views.limits import fit_one
from bot.views.people import People, who
from bot.views.text import escape, fallback, name, plain
from bot.views.words import ago, amount, binary_size, duration, instant, plural
from policies.core.finding import Evidence, Finding, PlannedAction, Severity, Subject

_EVIDENCE_MAX = 10
_SENTENCES_MAX = 8
_ACTIONS_MAX = 5
_CURRENCY = re.compile(r"[A-Z]{3}")

_ICONS = {
    Severity.INFO: ":information_source:",
    Severity.WARNING: ":warning:",
    Severity.CRITICAL: ":rotating_light:",
}
_KINDS = {
    "idle": "Idle GPUs",
    "ttl": "Past its time to live",
    "checkpoint-retention": "Old checkpoints",
    "commitment-coverage": "Commitment coverage",
    "approval": "Runs without approval",
    "budget": "Team budget",
    "job-spend": "Expensive job",
    "utilization": "Low GPU utilisation",
    "tagging": "Missing tags",
    "stalled": "Busy without progress",
    "failed-launch": "Starts that fail",
    "capacity": "Reserved capacity",
    "anomaly": "Unusual cost",
    "custom": "Your own rule",
}
_VERBS = {
    "warn": "warn the owner",
    "stop": "stop the instance",
    "terminate": "terminate the instance",
    "quarantine": "mark the checkpoints for deletion",
    "delete": "delete the checkpoints",
}
_MODES = {
    "observe": "The policy only observes: nothing is done.",
    "notify": "The policy only notifies: nothing in AWS is changed.",
}


def finding_alert(finding: Finding, *, people: People, now: datetime) -> Message:
    """Render a finding for its owner; mentioned when `people` knows a Slack id."""
    title = f"{kind_name(finding.kind)}: {finding.job or finding.subject.id}"
    owner = f"{who(finding.owner, people)}: " if finding.owner else ""
    sentences = [escape(text) for text in finding.explanation[:_SENTENCES_MAX]]
    lead = sentences[0] if sentences else escape(kind_name(finding.kind))
    blocks = [
        header(title),
        section(f"{_ICONS[finding.severity]} {owner}{lead}"),
        *([section(bullets(sentences[1:]))] if sentences[1:] else []),
        fields(_figures(finding, now)),
        *_evidence(finding.evidence),
        section(f"*What happens next*\n{_next(finding, now)}"),
        context(f"Policy {name(finding.policy)}, clause {name(finding.clause)}."),
    ]
    stake = "" if finding.cost_at_stake is None else f", {_stake(finding)} at stake"
    text = f"{fallback(title, most=140)}{stake}"
    return fit_one(Message(text=text, blocks=tuple(blocks)))


def finding_resolved(finding: Finding, *, people: People, now: datetime) -> Message:
    """Render a finding that is over."""
    title = f"{kind_name(finding.kind)}: {finding.job or finding.subject.id}"
    lasted = duration(now - finding.since)
    owner = f" {who(finding.owner, people)}" if finding.owner else ""
    done = f":white_check_mark: *Resolved*{owner} at {instant(now)}, after {lasted}."
    small = f"Policy {name(finding.policy)}, {subject_line(finding.subject)}."
    blocks = (header(title), section(done), context(small))
    text = f"Resolved: {fallback(title, most=140)}"
    return fit_one(Message(text=text, blocks=blocks))


def kind_name(kind: str) -> str:
    """Return a policy kind for people."""
    return _KINDS.get(kind) or plain(kind.replace("-", " "), most=60).capitalize()


def subject_line(subject: Subject) -> str:
    """Return what a finding is about, with its place."""
    kind = escape(subject.type.replace("-", " "), most=40)
    place = [
        escape(part, most=40) for part in (subject.region, subject.account) if part
    ]
    where = f" in {', '.join(place)}" if place else ""
    return f"{kind} {name(subject.id, most=120)}{where}"


def _stake(finding: Finding) -> str:
    return "unknown" if finding.cost_at_stake is None else amount(finding.cost_at_stake)


def _figures(finding: Finding, now: datetime) -> list[tuple[str, str]]:
    since = f"{instant(finding.since)}, {ago(finding.since, now)}"
    return [
        ("About", subject_line(finding.subject)),
        ("Job", _job(finding)),
        ("At stake", _stake(finding)),
        ("Since", since),
        ("Team", name(finding.team) if finding.team else ""),
    ]


def _job(finding: Finding) -> str:
    """Return the job, where it is not the subject itself; commitments have none."""
    if finding.subject.type in {"job", "commitment"}:
        return ""
    return name(finding.job) if finding.job else "none: no job tag"


def _evidence(evidence: Sequence[Evidence]) -> list[Json]:
    if not evidence:
        return []
    lines = [evidence_line(one) for one in evidence[:_EVIDENCE_MAX]]
    left = len(evidence) - _EVIDENCE_MAX
    if left > 0:
        lines.append(f"and {plural(left, 'more value')}")
    return [section(f"*Why*\n{bullets(lines)}")]


def evidence_line(one: Evidence) -> str:
    """Return a value beside the limit it was held against."""
    label = escape(one.name.replace("_", " "), most=80)
    value = "unknown" if one.value is None else _measured(one.value, one.unit)
    against = f" (limit {_limit(one.threshold, one.unit)})" if one.threshold else ""
    when = f", as of {instant(one.as_of)}" if one.as_of else ""
    return f"{label}: {value}{against}{when}"


def _limit(text: str, unit: str) -> str:
    """Return a limit with its unit once; some say it themselves."""
    if unit and text.endswith(unit):
        return escape(text, most=120)
    sign, space, number = text.rpartition(" ")
    return f"{escape(sign)}{space}{_measured(number, unit)}"


def _measured(text: str, unit: str) -> str:
    """Return a figure in its unit: money as money, bytes in units people read."""
    if unit == "B" and text.isdecimal():
        return binary_size(int(text))
    if _CURRENCY.fullmatch(unit):
        try:
            return amount(Money.of(text, unit))
        except ValueError:
            pass
    return f"{escape(text, most=120)}{_unit(unit)}"


def _unit(unit: str) -> str:
    shown = escape(unit, most=20)
    return f" {shown}" if shown else ""


def _next(finding: Finding, now: datetime) -> str:
    if finding.mode in _MODES:
        return _MODES[finding.mode]
    if not finding.actions:
        return "Nothing is planned."
    lines = [_action(action, now) for action in finding.actions[:_ACTIONS_MAX]]
    return bullets(lines)


def _action(action: PlannedAction, now: datetime) -> str:
    verb = _VERBS.get(action.do) or escape(action.do, most=60)
    if action.at <= now:
        return f"{verb} now"
    return f"{verb} in {duration(action.at - now)}, at {instant(action.at)}"
