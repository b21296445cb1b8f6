"""What is somebody's own: running jobs, their teams' month, what waits for them. Pure.

One set of facts, drawn as the private menu and as the home tab.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time

from billing.core.money import Rate
from bot.views.alert import kind_name
from bot.views.answers import JobLine, Json, Message
from bot.views.blocks import (
    actions,
    bullets,
    button,
    context,
    divider,
    header,
    plain_text,
    section,
)
from bot.views.limits import fit_one
from bot.views.slack_values import Wishes
from bot.views.text import escape, name
from bot.views.words import amount, duration, instant, plural, share
from policies.core.approvals import ApprovalRequest
from policies.core.facts import TeamMonth
from policies.core.finding import Finding

_JOBS_MAX = 10
_WAITING_MAX = 10
_TEAMS_MAX = 5
MENTIONS = "home_mentions"
QUIET = "home_quiet"
HOME_ACTIONS = (MENTIONS, QUIET)
#: Hours of quiet that can be chosen, by the value of the choice.
QUIETS: Mapping[str, tuple[time | None, time | None]] = {
    "none": (None, None),
    "18-08": (time(18), time(8)),
    "20-08": (time(20), time(8)),
    "22-07": (time(22), time(7)),
}
_QUIET_LABELS = {
    "none": "No quiet hours",
    "18-08": "Quiet from 18:00 to 8:00",
    "20-08": "Quiet from 20:00 to 8:00",
    "22-07": "Quiet from 22:00 to 7:00",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MyDay:
    """What is somebody's own, right now.

    Attributes:
        running: Their jobs that hold machines, the dearest per hour first.
        ends: When a policy ends a job, as its warning says.
        teams: The month of the teams of their jobs, and of those they lead.
        approvals: Requests that they may decide.
        findings: Open findings of their jobs that they are told of.
    """

    now: datetime
    running: tuple[JobLine, ...] = ()
    ends: Mapping[str, datetime] = field(default_factory=dict)
    teams: tuple[TeamMonth, ...] = ()
    approvals: tuple[ApprovalRequest, ...] = ()
    findings: tuple[Finding, ...] = ()
    wishes: Wishes = field(default_factory=Wishes)


def menu_message(day: MyDay, command: str) -> Message:
    """Render the private menu of the bare command."""
    hint = (
        f"Ask `{command} job-123` what a job costs, `{command} top` what costs most,"
        f" `{command} estimate p5.48xlarge x4 24h` what a run would cost."
        f" `{command} help` shows everything."
    )
    blocks = (*_jobs(day), *_teams(day), *_waiting(day), context(hint))
    text = (
        f"{plural(len(day.running), 'job')} of yours running,"
        f" {_count(day)} for you. `{command} help` shows what can be asked."
    )
    return fit_one(Message(text=text, blocks=blocks))


def _count(day: MyDay) -> str:
    count = len(day.approvals) + len(day.findings)
    return f"{plural(count, 'thing')} waiting" if count else "nothing waiting"


def home_view(day: MyDay, command: str) -> Json:
    """Return the home tab."""
    blocks = [
        header("Your GPU jobs"), *_jobs(day), *_teams(day), *_waiting(day), divider(),
        *_settings(day.wishes),
        context(
            f"As of {instant(day.now)}; opened again, it is read again."
            f" `{command} help` shows what can be asked."
        ),
    ]  # fmt: skip
    return {"type": "home", "blocks": blocks}


def _jobs(day: MyDay) -> list[Json]:
    if not day.running:
        return [section("*My jobs*: none of yours runs.")]
    lines = [_job(one, day) for one in day.running[:_JOBS_MAX]]
    left = len(day.running) - len(lines)
    lines += [f"and {plural(left, 'more job')}"] if left > 0 else []
    title = f"*My jobs*: {len(day.running):,} running, {_burn(day.running)}"
    return [section(f"{title}\n{bullets(lines)}")]


def _job(one: JobLine, day: MyDay) -> str:
    burn = "burn rate unknown" if one.burn is None else str(one.burn)
    spent = "cost unknown" if one.total is None else f"{amount(one.total)} this month"
    gpus = "" if one.gpus is None else f", {plural(one.gpus, 'GPU')}"
    ends = day.ends.get(one.job)
    left = ""
    if ends is not None:
        is_over = ends <= day.now
        left = ", ends now" if is_over else f", ends in {duration(ends - day.now)}"
    return f"{name(one.job)}: {burn}{gpus}, {spent}{left}"


def _burn(jobs: Sequence[JobLine]) -> str:
    known = [one.burn for one in jobs if one.burn is not None]
    if not known:
        return "burn rate unknown"
    whole = Rate(sum(one.nanos for one in known), known[0].currency)
    return f"at least {whole}" if len(known) < len(jobs) else str(whole)


def _teams(day: MyDay) -> list[Json]:
    if not day.teams:
        return [section("*My team*: no team is known of your jobs.")]
    lines = []
    for one in day.teams[:_TEAMS_MAX]:
        spent = "unknown" if one.spent is None else amount(one.spent)
        budget = "no budget"
        if one.budget is not None:
            used = share(one.spent, one.budget) if one.spent is not None else ""
            of = f" ({used})" if used else ""
            budget = f"of {amount(one.budget)}{of}"
        ahead = "" if one.forecast is None else f", {amount(one.forecast)} expected"
        lines.append(f"{name(one.team)}: {spent} {budget}{ahead}")
    left = len(day.teams) - len(lines)
    lines += [f"and {plural(left, 'more team')}"] if left > 0 else []
    return [section(f"*My team* this month (UTC)\n{bullets(lines)}")]


def _waiting(day: MyDay) -> list[Json]:
    lines = [
        f"Approve? {name(one.envelope.job)},"
        f" {one.envelope.count} x {escape(one.envelope.instance_type)}"
        f"{'' if one.high is None else f', up to {amount(one.high)}'}"
        f" ({escape(one.request_id)})"
        for one in day.approvals[:_WAITING_MAX]
    ]
    lines += [
        f"{escape(kind_name(one.kind))}: {name(one.job or one.subject.id)},"
        f" {_stake(one)}"
        for one in day.findings[:_WAITING_MAX]
    ]
    left = len(day.approvals) + len(day.findings) - len(lines)
    lines += [f"and {left:,} more"] if left > 0 else []
    if not lines:
        return [section("*Needs me*: nothing.")]
    return [section(f"*Needs me*\n{bullets(lines)}")]


def _stake(finding: Finding) -> str:
    stake = finding.cost_at_stake
    return "amount unknown" if stake is None else f"{amount(stake)} at stake"


def _settings(wishes: Wishes) -> list[Json]:
    quiet = quiet_key(wishes)
    options = {
        key: {"text": plain_text(label, most=75), "value": key}
        for key, label in _QUIET_LABELS.items()
    }
    label = "Do not mention me" if wishes.mentions else "Mention me"
    said = "mention you" if wishes.mentions else "name you without a mention"
    return [
        section(
            f"Alerts about your jobs {said}. In quiet hours, by your time zone, they"
            " never do. Warnings before something is stopped always do."
        ),
        actions(
            "home_settings",
            [
                button(
                    label, action_id=MENTIONS, value="off" if wishes.mentions else "on"
                ),
                {
                    "type": "static_select",
                    "action_id": QUIET,
                    "options": list(options.values()),
                    "initial_option": options[quiet],
                },
            ],
        ),
    ]


def quiet_key(wishes: Wishes) -> str:
    """Return which choice somebody's quiet hours are."""
    hours = (wishes.quiet_from, wishes.quiet_until)
    return next((key for key, value in QUIETS.items() if value == hours), "none")
