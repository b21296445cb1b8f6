"""Actions: what `enforce` would do, from a warning to its outcome; pure.

An action is planned when its finding is, waits until its warning was delivered and its
delay has passed, is checked once more against live facts, and is done at most once.
Whatever is unknown on the way ends in not acting, with the reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from policies.core.catalogue import Policy
from policies.core.document import Mode
from policies.core.finding import (
    Evaluation,
    Finding,
    PlannedAction,
    Subject,
    Target,
)
from policies.core.spelling import spelled

#: The clock may differ from AWS's own by this much and no more.
SKEW_MAX = timedelta(seconds=60)
#: The tag without which nothing is ever touched, and those that protect.
MANAGED_TAG = ("gpucost-managed", "true")
KEEP_TAGS = ("gpucost-keep", "do-not-stop")
#: Distinct admins who must have confirmed a policy before it may act.
CONFIRMATIONS = 2
#: An action that waits longer than this after its time lapses: the facts have moved on.
LAPSES_AFTER = timedelta(hours=6)
#: A step that failed or was called off is planned again, with a new warning, so often.
TRIES_MAX = 3
TRY_AGAIN_AFTER = timedelta(hours=1)
#: What EC2 instances are called among targets.
INSTANCE = "instance"
#: Verbs that something here can really do.
DOABLE = frozenset({"stop", "terminate", "quarantine", "delete"})


class ActionState(StrEnum):
    """Where an action stands; it only moves forward."""

    WAITING = "waiting"
    ACTING = "acting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL = frozenset({ActionState.DONE, ActionState.FAILED, ActionState.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One verb on the resources of one finding.

    Attributes:
        action_id: Identity: the finding, the time it opened, the step, the attempt.
        policy_hash: Of the policy as it was when planned.
        opened_at: When the finding opened.
        not_before: The policy's own time of the step.
        after: Delay after the warning was delivered.
        reason: Why it failed or was cancelled; "" otherwise.
    """

    action_id: str
    policy: str
    policy_hash: str
    fingerprint: str
    opened_at: datetime
    verb: str
    subject: Subject
    job: str
    targets: tuple[Target, ...]
    not_before: datetime
    after: timedelta
    state: ActionState = ActionState.WAITING
    planned_at: datetime | None = None
    acting_at: datetime | None = None
    ended_at: datetime | None = None
    reason: str = ""

    @property
    def warning_key(self) -> str:
        """Return the outbox key of the warning that must be delivered first."""
        return f"action:{self.action_id}:warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """One resource as AWS tells it at the moment of acting.

    Attributes:
        state: As EC2 names it, or as checkpoints are found; "" when it is not there.
        started_at: LaunchTime, or when a checkpoint was written.
        is_protected: Against termination, or by its bucket's object lock; None when
            AWS did not tell.
        skew: AWS's clock minus ours; None when AWS did not tell.
        version: Digest of exactly the versions of a checkpoint.
    """

    state: str
    tags: tuple[tuple[str, str], ...] = ()
    started_at: datetime | None = None
    is_protected: bool | None = None
    skew: timedelta | None = None
    version: str = ""


def policy_hash(policy: Policy) -> str:
    """Return the identity of what a policy says; comments and order do not count."""
    text = json.dumps(spelled(policy), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan(
    evaluation: Evaluation,
    policies: Iterable[Policy],
    opened: Mapping[str, datetime],
    known: Sequence[Action],
) -> list[Action]:
    """Return the actions that findings of enforcing policies call for and that are new.

    Args:
        evaluation: What was found.
        policies: The policies in force.
        opened: When each finding opened, by fingerprint.
        known: Actions planned before for the same findings, in any state.
    """
    enforcing = {one.name: one for one in policies if one.mode is Mode.ENFORCE}
    before: dict[tuple[str, datetime, str], list[Action]] = {}
    for action in known:
        key = (action.fingerprint, action.opened_at, action.verb)
        before.setdefault(key, []).append(action)
    found = []
    for finding in evaluation.findings:
        policy = enforcing.get(finding.policy)
        at = opened.get(finding.fingerprint)
        if policy is None or at is None or not finding.targets:
            continue
        if finding.targets[0].kind != INSTANCE:
            continue  # policies.core.object_actions plans those
        for step in finding.actions:
            tries = before.get((finding.fingerprint, at, step.do), [])
            if step.do not in DOABLE or _is_done(tries):
                continue  # one step after the other
            if _may_try(tries, evaluation.now):
                found.append(make_action(policy, finding, step, at, len(tries)))
            break
    return found


def _is_done(tries: Sequence[Action]) -> bool:
    return any(one.state is ActionState.DONE for one in tries)


def _may_try(tries: Sequence[Action], now: datetime) -> bool:
    """Tell whether a step may be planned: it never was, or ended without being done."""
    if len(tries) >= TRIES_MAX or any(one.state not in FINAL for one in tries):
        return False
    ends = [one.ended_at for one in tries if one.ended_at is not None]
    return all(now - end >= TRY_AGAIN_AFTER for end in ends)


def make_action(
    policy: Policy,
    finding: Finding,
    step: PlannedAction,
    opened_at: datetime,
    attempt: int,
) -> Action:
    """Return the action of one step, for all targets of a finding."""
    parts = (finding.fingerprint, opened_at.isoformat(), step.do, str(attempt))
    identity = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]
    return Action(
        action_id=identity,
        policy=policy.name,
        policy_hash=policy_hash(policy),
        fingerprint=finding.fingerprint,
        opened_at=opened_at,
        verb=step.do,
        subject=finding.subject,
        job=finding.job,
        targets=finding.targets,
        not_before=step.at if step.after is None else opened_at,
        after=step.after or timedelta(),
    )


def due_at(action: Action, warned_at: datetime | None) -> datetime | None:
    """Return when an action may happen; None while its warning was not delivered."""
    if warned_at is None:
        return None
    return max(action.not_before, warned_at + action.after)


def why_cancelled(
    action: Action, policies: Iterable[Policy], still: Collection[str]
) -> str:
    """Say why a waiting action is over; "" while it is not.

    Args:
        action: A waiting action.
        policies: The policies in force.
        still: Fingerprints that were found, or could not be judged, just now.
    """
    policy = next((one for one in policies if one.name == action.policy), None)
    if policy is None or policy.mode is not Mode.ENFORCE:
        return "its policy no longer enforces"
    if policy_hash(policy) != action.policy_hash:
        return "its policy has changed"
    if action.fingerprint not in still:
        return "the finding is resolved"
    return ""


def why_not_yet(
    policy: Policy, confirmed_by: Collection[str], *, paused_by: str, can_act: bool
) -> str:
    """Say what keeps a policy from acting at all; "" when nothing does."""
    if paused_by:
        return f"actions are paused by {paused_by}"
    if not can_act:
        return "no aws.enforce_role is configured"
    lacking = CONFIRMATIONS - len(set(confirmed_by))
    if lacking > 0:
        noun = "admin" if lacking == 1 else "admins"
        return (
            f"{lacking} more {noun} must confirm it: "
            f"gpucost policy confirm {policy.name}"
        )
    return ""


def why_changed(action: Action, now_found: Finding | None) -> str:
    """Say why a fresh judgement no longer calls for an action; "" when it does."""
    if now_found is None:
        return "the condition no longer holds, or cannot be judged"
    if all(step.do != action.verb for step in now_found.actions):
        return f"the policy no longer calls for {action.verb}"
    if {one.resource_id for one in now_found.targets} != {
        one.resource_id for one in action.targets
    }:
        return "other resources than those warned about"
    return ""


def why_spared(target: Target, live: Live, *, verb: str) -> str:
    """Say why a resource is left alone as AWS tells it now; "" when it may be touched."""
    tags = {key.lower(): value.strip().lower() for key, value in live.tags}
    key, value = MANAGED_TAG
    kept = [name for name in KEEP_TAGS if tags.get(name) not in {None, "", "false"}]
    reasons = [
        (not live.state, "it is gone"),
        (live.state not in {"", "running"}, f"it is {live.state}"),
        (tags.get(key) != value, f"it does not carry the tag {key}={value}"),
        (bool(kept), f"it carries the tag {', '.join(kept)}"),
        (
            live.started_at is None or live.started_at != target.started_at,
            "it was started again since",
        ),
        (live.is_protected is None, "whether it is protected is unknown"),
        (
            verb == "terminate" and live.is_protected is True,
            "it is protected against termination",
        ),
        (live.skew is None, "AWS's clock is unknown"),
        (
            live.skew is not None and abs(live.skew) > SKEW_MAX,
            f"the clock differs from AWS's by over {SKEW_MAX.seconds} s",
        ),
    ]
    return next((reason for holds, reason in reasons if holds), "")


def waits_too_long(due: datetime, now: datetime) -> bool:
    """Tell whether an action missed its time by so much that it must be planned anew."""
    return now - due > LAPSES_AFTER
