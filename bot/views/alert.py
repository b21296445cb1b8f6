"""A finding as people see it: who should look, what is wrong, why, and what is next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.views.alert_buttons import NOTHING_DONE, AlertState, alert_buttons
from bot.views.answers import Message
from bot.views.blocks import bullets, context, fields, header, section
from bot.views.evidence import evidence_blocks
from bot.views.limits import fit_one
from bot.views.people import People, who
from bot.views.text import escape, fallback, name, plain
from bot.views.words import ago, amount, duration, instant, plural
from policies.core.finding import Finding, PlannedAction, Severity, Subject

_SENTENCES_MAX = 8
_ACTIONS_MAX = 5
_GROUP_MAX = 10

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
    "efficiency": "Expensive work",
    "placement": "Paying for the place",
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


def finding_alert(
    finding: Finding,
    *,
    people: People,
    now: datetime,
    state: AlertState = NOTHING_DONE,
) -> Message:
    """Render a finding for its owner; mentioned when `people` knows a Slack id."""
    title = alert_title(finding)
    owner = f"{who(finding.owner, people)}: " if finding.owner else ""
    sentences = [escape(text) for text in finding.explanation[:1]]
    lead = sentences[0] if sentences else escape(kind_name(finding.kind))
    done = _done(state, people, now)
    blocks = [
        header(title),
        section(f"{_ICONS[finding.severity]} {owner}{lead}"),
        fields(_figures(finding, now)),
        *([section("\n".join(done))] if done else []),
        section(f"*What happens next*\n{_next(finding, now)}"),
        context(f"Policy {name(finding.policy)}. Explain shows the reasons."),
        *alert_buttons(finding, state),
    ]
    stake = "" if finding.cost_at_stake is None else f", {_stake(finding)} at stake"
    text = f"{fallback(title, most=140)}{stake}"
    return fit_one(Message(text=text, blocks=tuple(blocks)))


def alert_title(finding: Finding) -> str:
    """Return what a finding is called."""
    return f"{kind_name(finding.kind)}: {finding.job or finding.subject.id}"


def _done(state: AlertState, people: People, now: datetime) -> list[str]:
    lines = []
    if state.not_idle_by:
        lines.append(f"{who(state.not_idle_by, people)} says that it is in use.")
    if state.kept_until is not None and state.kept_until > now:
        by = f" by {who(state.kept_by, people)}" if state.kept_by else ""
        lines.append(f"Kept{by} until {instant(state.kept_until)}.")
    if state.snoozed_until is not None and state.snoozed_until > now:
        lines.append(f"No reminders until {instant(state.snoozed_until)}.")
    return lines


def finding_details(finding: Finding, *, now: datetime) -> Message:
    """Render why a finding is one: every sentence, value and limit."""
    sentences = [escape(text) for text in finding.explanation[:_SENTENCES_MAX]]
    blocks = [
        *([section(bullets(sentences))] if sentences else []),
        *evidence_blocks(finding.evidence),
        context(
            f"Policy {name(finding.policy)}, clause {name(finding.clause)}, as of"
            f" {instant(now)}."
        ),
    ]
    text = f"Why: {fallback(alert_title(finding), most=140)}"
    return fit_one(Message(text=text, blocks=tuple(blocks)))


def finding_resolved(finding: Finding, *, people: People, now: datetime) -> Message:
    """Render a finding that is over."""
    title = alert_title(finding)
    lasted = duration(now - finding.since)
    owner = f" {who(finding.owner, people)}" if finding.owner else ""
    done = f":white_check_mark: *Resolved*{owner} at {instant(now)}, after {lasted}."
    small = f"Policy {name(finding.policy)}, {subject_line(finding.subject)}."
    blocks = (header(title), section(done), context(small))
    text = f"Resolved: {fallback(title, most=140)}"
    return fit_one(Message(text=text, blocks=blocks))


def finding_again(finding: Finding, *, people: People, is_worse: bool) -> Message:
    """Render the reminder in a finding's thread."""
    owner = f"{who(finding.owner, people)}: " if finding.owner else ""
    said = "it got worse" if is_worse else "it still holds"
    stake = (
        "" if finding.cost_at_stake is None else f", {_stake(finding)} is at stake now"
    )
    line = f"{_ICONS[finding.severity]} {owner}{said}{stake}."
    text = f"{fallback(alert_title(finding), most=140)}: {said}"
    return fit_one(Message(text=text, blocks=(section(line),)))


def findings_group(
    findings: Sequence[Finding], *, open_left: int, now: datetime, count: int = 0
) -> Message:
    """Render many findings of one policy at once; each stands in the thread.

    `count` is how many they were at first, where some are no longer known.
    """
    first = findings[0]
    count = count or len(findings)
    title = f"{kind_name(first.kind)}: {plural(count, 'finding')}"
    shown = [
        f"{name(one.job or one.subject.id)}: {_stake(one)}"
        for one in findings[:_GROUP_MAX]
    ]
    left = len(findings) - len(shown)
    if left > 0:
        shown.append(f"and {left:,} more")
    state = (
        f":white_check_mark: All of them are resolved, at {instant(now)}."
        if not open_left
        else f":warning: {open_left:,} of {count:,} are open."
    )
    blocks = (
        header(title),
        section(state),
        section(f"*At stake*\n{bullets(shown)}"),
        context(f"Policy {name(first.policy)}. Each one is in the thread."),
    )
    return fit_one(Message(text=fallback(title, most=140), blocks=blocks))


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
