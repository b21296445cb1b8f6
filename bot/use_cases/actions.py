"""Plan what enforcing policies call for, warn of it, and call it off; nothing acts here.

Everything commits with the findings it follows from: an action, its warning and the
record of both are there together or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.ports import OutboxMessage, UnitOfWork
from bot.use_cases.cards import post
from bot.views.acting import action_ended, action_warning, confirm_wanted
from policies.core.actions import (
    Action,
    ActionState,
    policy_hash,
    why_cancelled,
    why_not_yet,
)
from policies.core.catalogue import Policy
from policies.core.document import Mode
from policies.core.finding import Evaluation, Finding, Refusal
from policies.core.object_actions import plan_all
from policies.ports import StoredFinding

#: Whose doing an action is in the audit chain: no person's.
ACTOR = "gpucost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """What planning needs to know besides what was found.

    Attributes:
        can_act: Whether there is a role to act with.
        channel: Where a finding's warning goes; "" when there is no place, and then
            nothing is planned.
        alerts: Where admins are asked to confirm a policy; "" asks nobody.
        people: Slack id of an owner tag's value.
    """

    can_act: bool
    channel: Callable[[Finding], str]
    alerts: str = ""
    people: Mapping[str, str] = field(default_factory=dict)


def plan_actions(
    unit: UnitOfWork,
    evaluation: Evaluation,
    policies: Sequence[Policy],
    acting: Acting,
    *,
    now: datetime,
) -> tuple[frozenset[str], tuple[Refusal, ...]]:
    """Store new actions with their warnings, and call off those that are over.

    Returns:
        Fingerprints whose warning was queued here, and why policies do not act.
    """
    opened = {one.finding.fingerprint: one for one in unit.journal.open_findings()}
    _call_off(unit, policies, opened, now)
    paused = unit.control.paused() or {}
    refused: list[Refusal] = []
    ready: list[Policy] = []
    over = {one.policy for one in evaluation.refused if one.action == "act"}
    for policy in policies:
        if policy.mode is not Mode.ENFORCE:
            continue
        by = unit.journal.confirmed_by(policy.name, policy_hash(policy))
        reason = why_not_yet(
            policy, by, paused_by=paused.get("by", ""), can_act=acting.can_act
        )
        if reason:
            refused.append(Refusal(policy=policy.name, action="enforce", reason=reason))
            _ask_to_confirm(unit, policy, by, acting, now)
        elif policy.name not in over:
            ready.append(policy)
    warned = _plan_ready(unit, evaluation, ready, opened, acting, now=now)
    return warned, tuple(refused)


def _plan_ready(
    unit: UnitOfWork,
    evaluation: Evaluation,
    ready: Sequence[Policy],
    opened: Mapping[str, StoredFinding],
    acting: Acting,
    *,
    now: datetime,
) -> frozenset[str]:
    findings = {one.fingerprint: one for one in evaluation.findings}
    starts = {name: one.opened_at for name, one in opened.items()}
    known = unit.journal.actions_of(findings)
    warned = set()
    for action in plan_all(evaluation, ready, starts, known):
        finding = findings[action.fingerprint]
        channel = acting.channel(finding)
        if channel and unit.journal.add_action(action, now):
            message = action_warning(finding, action, people=acting.people, now=now)
            unit.outbox.put(post(action.warning_key, channel, message), now)
            unit.journal.mark_notified(action.fingerprint, now)
            record(unit, "action planned", action, now)
            warned.add(action.fingerprint)
    return frozenset(warned)


def _call_off(
    unit: UnitOfWork,
    policies: Sequence[Policy],
    still: Collection[str],
    now: datetime,
) -> None:
    for action in unit.journal.live_actions():
        if action.state is ActionState.WAITING:
            reason = why_cancelled(action, policies, still)
            if reason:
                cancel(unit, action, reason, now)


def cancel(unit: UnitOfWork, action: Action, reason: str, now: datetime) -> bool:
    """Call off one waiting action, and say so beside its warning."""
    if not unit.journal.cancel_action(action.action_id, reason=reason, now=now):
        return False
    record(unit, "action cancelled", action, now, reason=reason)
    tell_end(unit, action, ActionState.CANCELLED, reason, now)
    return True


def cancel_all(unit: UnitOfWork, reason: str, now: datetime) -> int:
    """Call off everything that waits; return how much did."""
    waiting = [
        one for one in unit.journal.live_actions() if one.state is ActionState.WAITING
    ]
    return sum(cancel(unit, one, reason, now) for one in waiting)


def tell_end(
    unit: UnitOfWork, action: Action, state: ActionState, reason: str, now: datetime
) -> None:
    """Queue what became of an action, in the thread of its warning."""
    warning = unit.outbox.find(action.warning_key)
    if warning is None:
        return
    message = action_ended(action, state, reason=reason, now=now)
    reply = OutboxMessage(
        key=f"action:{action.action_id}:{state.value}",
        kind="post",
        channel=warning.message.channel,
        payload={"text": message.text, "blocks": [*message.blocks]},
        thread_of=action.warning_key,
    )
    unit.outbox.put(reply, now)


def _ask_to_confirm(
    unit: UnitOfWork,
    policy: Policy,
    confirmed_by: Sequence[str],
    acting: Acting,
    now: datetime,
) -> None:
    """Tell once per wording of a policy that admins must confirm it."""
    if not acting.alerts or not acting.can_act:
        return
    identity = policy_hash(policy)
    message = confirm_wanted(
        policy.name, identity, confirmed=len(set(confirmed_by)), kind=policy.kind
    )
    key = f"policy:{policy.name}:{identity}:confirm"
    unit.outbox.put(post(key, acting.alerts, message), now)


def record(
    unit: UnitOfWork, event: str, action: Action, now: datetime, *, reason: str = ""
) -> None:
    """Add one step of an action to the audit chain."""
    data = {
        "policy": action.policy,
        "policy_hash": action.policy_hash,
        "verb": action.verb,
        "job": action.job,
        "targets": [one.resource_id for one in action.targets],
    }
    if reason:
        data["reason"] = reason
    unit.audit.append(event, actor=ACTOR, subject=action.action_id, data=data, now=now)
