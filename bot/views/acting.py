"""What people read around an action: the warning before it, what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.views.answers import Message
from bot.views.blocks import context, header, section
from bot.views.limits import fit_one
from bot.views.people import People, who
from bot.views.terminal import clean
from bot.views.text import escape, fallback, name
from bot.views.words import amount, duration, instant, plural
from policies.core.actions import CONFIRMATIONS, Action, ActionState
from policies.core.finding import Finding
from policies.core.object_actions import is_about_checkpoints

#: An action, what became of it, and why.
Ended = tuple[Action, ActionState, str]
_SHOWN_MAX = 10
_DONE = {
    "stop": "Stopped",
    "terminate": "Terminated",
    "quarantine": "Tagged for deletion",
    "delete": "Deleted",
}


def action_warning(
    finding: Finding, action: Action, *, people: People, now: datetime
) -> Message:
    """Render the warning that must be delivered before anything happens."""
    what = finding.job or finding.subject.id
    title = f"{action.verb.capitalize()} soon: {what}"
    owner = f"{who(finding.owner, people)}: " if finding.owner else ""
    why = " ".join(escape(text) for text in finding.explanation[:4])
    stake = (
        "What it saves is unknown."
        if finding.cost_at_stake is None
        else f"It saves at most {amount(finding.cost_at_stake)} a {_period(action)}: "
        "less where commitments pay for it."
    )
    blocks = (
        header(title),
        section(f":warning: {owner}{_when(action, now)}\n{why}"),
        section(f"*What will be touched*\n{_targets(action)}\n{stake}"),
        section(
            f"*To keep it*\n{_how_to_keep(action)}, or let an admin "
            "`/gpucost pause`. It is looked at again right before."
        ),
        context(f"Policy {name(action.policy)}, {name(finding.clause)}."),
    )
    return fit_one(Message(text=fallback(title, most=140), blocks=blocks))


def _noun(action: Action) -> str:
    return "checkpoint" if is_about_checkpoints(action.targets) else "instance"


def _period(action: Action) -> str:
    return "month" if is_about_checkpoints(action.targets) else "day"


def _how_to_keep(action: Action) -> str:
    if not is_about_checkpoints(action.targets):
        return "Use it, tag it `gpucost-keep=true`"
    undo = "Remove the tag `gpucost-quarantine` from it" if action.after else ""
    keep = "tag any object of it `gpucost-keep=true`"
    return f"{undo}, {keep}" if undo else keep.capitalize()


def _when(action: Action, now: datetime) -> str:
    verb = escape(action.verb)
    if action.verb == "quarantine":
        verb = "tag (and not move)"
    count = plural(len(action.targets), _noun(action))
    if action.after:
        return (
            f"gpucost will {verb} {count} {duration(action.after)} after this message."
        )
    if action.not_before > now:
        left = duration(action.not_before - now)
        return (
            f"gpucost will {verb} {count} in {left}, at {instant(action.not_before)}."
        )
    return f"gpucost will {verb} {count} shortly after this message."


def _targets(action: Action) -> str:
    shown = [
        f"{name(one.resource_id)} in {escape(one.region)}, {escape(one.account)}"
        if one.region
        else name(one.resource_id)
        for one in action.targets[:_SHOWN_MAX]
    ]
    left = len(action.targets) - len(shown)
    if left > 0:
        shown.append(f"and {plural(left, f'more {_noun(action)}')}")
    return "\n".join(shown)


def action_ended(
    action: Action, state: ActionState, *, reason: str, now: datetime
) -> Message:
    """Render what became of an action, for the thread of its warning."""
    what = action.job or action.subject.id
    count = plural(len(action.targets), _noun(action))
    verb = action.verb
    if state is ActionState.DONE:
        said = f"{_DONE.get(action.verb, 'Done')}: {count} of {name(what)}"
        line = f":white_check_mark: {said}, at {instant(now)}."
    elif state is ActionState.CANCELLED:
        line = f"Nothing was done to {name(what)}: {escape(reason)}."
    else:
        line = (
            f":x: Could not {escape(verb)} all of {name(what)}: {escape(reason)}. "
            "Look at it in AWS."
        )
    text = fallback(f"{verb} {what}: {state.value}", most=140)
    return fit_one(Message(text=text, blocks=(section(line),)))


def confirm_wanted(policy: str, identity: str, *, confirmed: int, kind: str) -> Message:
    """Render the request that admins confirm a policy before it may act."""
    left = max(0, CONFIRMATIONS - confirmed)
    title = f"Policy {policy} wants to act"
    line = (
        f"Policy {name(policy)} ({escape(kind)}) is in `enforce` mode, as "
        f"{name(identity)}. Until {plural(left, 'more admin')} confirmed exactly this "
        "wording, it only tells."
    )
    blocks = (
        header(title),
        section(line),
        context(f"Confirm with `gpucost policy confirm {escape(policy)}`."),
    )
    return fit_one(Message(text=fallback(title, most=140), blocks=blocks))


def outcomes_document(ended: Sequence[Ended]) -> dict[str, object]:
    """Return what became of actions as JSON."""
    return {
        "acted": [
            {
                "id": action.action_id,
                "policy": action.policy,
                "job": action.job,
                "do": action.verb,
                "resources": [one.resource_id for one in action.targets],
                "state": state.value,
                "reason": reason,
            }
            for action, state, reason in ended
        ]
    }


def outcomes_text(ended: Sequence[Ended]) -> str:
    """Return what became of actions for the terminal, one a line; plain text."""
    lines = []
    for action, state, reason in ended:
        what = clean(action.job or action.subject.id)
        why = f" ({clean(reason)})" if reason else ""
        lines.append(
            f"{state.value}: {action.verb} {what}, policy {action.policy}{why}"
        )
    return "".join(f"\n{line}" for line in lines)
