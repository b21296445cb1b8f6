"""Stop what a finding is about because a person says so; as safe as any action.

No policy needs to enforce for it, and no warning precedes it: somebody who may looked.
All else holds: not paused, a role to act with, judged anew, looked at in AWS, the tag
that allows it, once, on record.
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from bot.ports import UnitOfWork
from bot.use_cases.acting import Hand, Outcome, do_at_once
from bot.use_cases.actions import cancel
from policies.core.actions import FINAL, Action, ActionState, policy_hash
from policies.core.capabilities import refusal_of
from policies.core.catalogue import Policy
from policies.core.finding import Finding
from policies.ports import StoredFinding

STOP = "stop"
PAUSED = "actions are paused"
NO_ROLE = "no aws.enforce_role is configured"
NO_POLICY = "its policy is not in force any more"
CHANGED = "the condition no longer holds, or cannot be judged"
OTHERS = "it is about other machines by now"
KEPT = "it is kept: revoke the waiver first"
RUNNING = "it is being stopped already"
UNKNOWN = "AWS could not be asked, or somebody else was first"
BY_HAND = "somebody stopped it by hand"


def stop_now(hand: Hand, stored: StoredFinding, *, by: str) -> Outcome | str:
    """Stop the machines of a finding; return what became of it, or why it was not tried.

    `by` is the pseudonym of who asks; that they may is checked before.
    """
    refused = _why_not(hand, stored)
    if refused:
        return refused
    policy = next(one for one in hand.policies if one.name == stored.finding.policy)
    found = {one.fingerprint: one for one in hand.evaluate([policy]).findings}
    fresh = found.get(stored.finding.fingerprint)
    refused = _why_changed(stored.finding, fresh)
    if refused:
        return refused
    now = hand.now()
    with hand.store.write() as unit:
        action = _plan(unit, stored, policy, by=by, now=now)
    if action is None:
        return RUNNING
    outcome = do_at_once(hand, action)
    if outcome is not None:
        return outcome
    with hand.store.write() as unit:
        cancel(unit, action, UNKNOWN, hand.now())
    return UNKNOWN


def _why_not(hand: Hand, stored: StoredFinding) -> str:
    with hand.store.read() as unit:
        if unit.control.paused() is not None:
            return PAUSED
    if hand.enforcer is None:
        return NO_ROLE
    if all(one.name != stored.finding.policy for one in hand.policies):
        return NO_POLICY
    reasons = (
        refusal_of(STOP, one.manager, one.lifecycle) for one in stored.finding.targets
    )
    return next((reason for reason in reasons if reason), "")


def _why_changed(shown: Finding, fresh: Finding | None) -> str:
    if fresh is None or not fresh.targets:
        return CHANGED
    if {one.resource_id for one in fresh.targets} != {
        one.resource_id for one in shown.targets
    }:
        return OTHERS
    return KEPT if fresh.waiver else ""


def _plan(
    unit: UnitOfWork, stored: StoredFinding, policy: Policy, *, by: str, now: datetime
) -> Action | None:
    """Store the action, and call off what waits; None when one is under way or done."""
    finding = stored.finding
    known = unit.journal.actions_of([finding.fingerprint])
    mine = [one for one in known if one.opened_at == stored.opened_at]
    for one in mine:
        is_done = one.state is ActionState.DONE and one.verb == STOP
        if is_done or one.state is ActionState.ACTING:
            return None
        if one.state not in FINAL:
            cancel(unit, one, BY_HAND, now)
    parts = (
        finding.fingerprint,
        stored.opened_at.isoformat(),
        "by hand",
        str(len(mine)),
    )
    action = Action(
        action_id=hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24],
        policy=finding.policy,
        policy_hash=policy_hash(policy),
        fingerprint=finding.fingerprint,
        opened_at=stored.opened_at,
        verb=STOP,
        subject=finding.subject,
        job=finding.job,
        targets=finding.targets,
        not_before=now,
        after=timedelta(),
    )
    if not unit.journal.add_action(action, now):
        return None
    unit.audit.append(
        "action asked for",
        actor=by,
        subject=action.action_id,
        data={
            "policy": action.policy,
            "verb": action.verb,
            "job": action.job,
            "targets": [one.resource_id for one in action.targets],
        },
        now=now,
    )
    return action
