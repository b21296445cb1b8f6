"""What somebody who pressed a button under an alert is told; only they see it. Pure."""

from __future__ import annotations

from datetime import datetime

from bot.views.alert import alert_title, finding_details
from bot.views.answers import Message
from bot.views.blocks import context, section
from bot.views.errors import note
from bot.views.limits import fit_one
from bot.views.people import People, who
from bot.views.text import escape, fallback, name
from bot.views.words import instant, plural
from policies.core.actions import Action, ActionState
from policies.core.finding import Finding

NOT_MINE = "This button is not one of mine: nothing was done."
GUEST = "Guests may not press this."


def ended(finding: Finding | None, at: datetime | None) -> Message:
    """Tell a late press that the finding is over."""
    what = f" of {name(finding.job or finding.subject.id)}" if finding else ""
    when = f" ended at {instant(at)}" if at else " is over"
    return note(f"The finding{what}{when}: nothing was done.")


def not_yours(finding: Finding, people: People) -> Message:
    """Say who may press."""
    owner = who(finding.owner, people) if finding.owner else "its owner (unknown)"
    team = f", leads of team {name(finding.team)}" if finding.team else ""
    return note(f"Nothing was done: {owner}{team} and admins may do this.")


def kept(finding: Finding, until: datetime, *, again: bool) -> Message:
    """Say until when a policy leaves a subject alone."""
    was = "is kept already" if again else "is kept"
    return note(
        f"{name(finding.subject.id)} {was} until {instant(until)}: policy"
        f" {name(finding.policy)} leaves it alone."
    )


def not_kept(finding: Finding) -> Message:
    """Say that a policy allows no more keeping."""
    return note(
        f"Policy {name(finding.policy)} allows no more for"
        f" {name(finding.subject.id)}. Ask for a waiver: `gpucost waiver request`."
    )


def snoozed(finding: Finding, until: datetime) -> Message:
    """Say until when nobody is reminded."""
    return note(
        f"No reminders of {name(finding.job or finding.subject.id)} until"
        f" {instant(until)}. What a policy plans goes on, with its own warnings."
    )


def noted(finding: Finding, until: datetime | None, *, again: bool) -> Message:
    """Thank for a word, which the digest counts."""
    said = "You said so already" if again else "Noted for the digest"
    kept_until = f" It is kept until {instant(until)}." if until else ""
    return note(f"{said}: {name(finding.subject.id)} is in use.{kept_until}")


def not_stopped(finding: Finding, reason: str) -> Message:
    """Say why nothing was stopped."""
    return note(
        f"Nothing was stopped of {name(finding.job or finding.subject.id)}:"
        f" {escape(reason, most=400)}."
    )


def stopped_by(action: Action, state: ActionState, reason: str, *, by: str) -> Message:
    """Render for the alert's thread what somebody's Stop came to; `by` is a Slack id."""
    what = name(action.job or action.subject.id)
    count = plural(len(action.targets), "instance")
    people = {by: by}
    if state is ActionState.DONE:
        line = f":white_check_mark: {who(by, people)} stopped {count} of {what}."
    elif state is ActionState.CANCELLED:
        line = f"{who(by, people)} asked to stop {what}: not done, {escape(reason)}."
    else:
        line = (
            f":x: {who(by, people)} asked to stop {what}: {escape(reason)}."
            " Look at it in AWS."
        )
    text = fallback(f"Stop {action.job or action.subject.id}: {state.value}", most=140)
    return fit_one(Message(text=text, blocks=(section(line),)))


def explained(finding: Finding, as_of: datetime) -> Message:
    """Render the reasons of a finding for one person."""
    details = finding_details(finding, now=as_of)
    head = section(f"*{escape(alert_title(finding), most=200)}*")
    more = context(
        f"`gpucost policy explain {escape(finding.subject.id, most=120)}` shows every"
        " policy that looks at it."
    )
    return fit_one(Message(text=details.text, blocks=(head, *details.blocks, more)))
