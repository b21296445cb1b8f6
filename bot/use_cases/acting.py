"""Do what was planned and warned of, once, after looking again; otherwise say why not.

The order is the safety: warning delivered, delay over, policy confirmed and not paused,
judged anew on fresh facts, looked at in AWS itself, marked as under way, done, recorded.
A process that dies in between leaves an action that the next one settles by looking,
never by doing it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from billing.core.attribution import TagKeys, job_of
from billing.ports import SourceUnavailableError
from bot.ports import OutboxRow, Store, UnitOfWork
from bot.use_cases.actions import cancel, record, tell_end
from policies.core.actions import (
    Action,
    ActionState,
    Live,
    due_at,
    policy_hash,
    waits_too_long,
    why_changed,
    why_not_yet,
    why_spared,
)
from policies.core.catalogue import Policy
from policies.core.finding import Evaluation, Finding, Target
from policies.core.holding import CHECKPOINT
from policies.core.object_actions import (
    is_about_checkpoints,
    is_over,
    why_checkpoint_spared,
    why_not_these,
)
from policies.ports import Enforcer

SENT = "sent"
#: An action under way for longer was left by a process that died.
LEASE = timedelta(minutes=5)
ENDED = frozenset({"", "stopping", "stopped", "shutting-down", "terminated"})
LEFT = "the process ended while acting; AWS still runs it, and it is not tried again"
LATE = "its time passed hours ago"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """What acting needs.

    Attributes:
        enforcer: None when there is no role to act with.
        policies: The policies in force.
        evaluate: Judges some policies on facts gathered now.
        now: The clock of rules; ``system_now`` is that of leases.
    """

    store: Store
    enforcer: Enforcer | None
    policies: Sequence[Policy]
    evaluate: Callable[[Sequence[Policy]], Evaluation]
    keys: TagKeys
    now: Callable[[], datetime]
    system_now: Callable[[], datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one action in one run."""

    action: Action
    state: ActionState
    reason: str = ""


def act_due(hand: Hand) -> tuple[Outcome, ...]:
    """Settle what was left, and do what is due; return what became of each."""
    outcomes = [*_settle_left(hand)]
    due = _due(hand)
    if not due or hand.enforcer is None:
        return tuple(outcomes)
    by_name = {one.name: one for one in hand.policies}
    wanted = [by_name[name] for name in sorted({one.policy for one in due})]
    evaluation = hand.evaluate(wanted)
    over = {one.policy for one in evaluation.refused if one.action == "act"}
    found = {one.fingerprint: one for one in evaluation.findings}
    for action in due:
        if action.policy in over:
            continue  # above its limits a plan waits whole, for a person
        changed = _changed(action, found.get(action.fingerprint))
        outcome = _cancelled(hand, action, changed) if changed else _do(hand, action)
        if outcome is not None:
            outcomes.append(outcome)
    return tuple(outcomes)


def _changed(action: Action, found: Finding | None) -> str:
    if found is not None and is_about_checkpoints(action.targets):
        return why_not_these(action, found)
    return why_changed(action, found)


def _due(hand: Hand) -> list[Action]:
    """Return actions whose time has come and whose policy may act right now."""
    now = hand.now()
    by_name = {one.name: one for one in hand.policies}
    with hand.store.read() as unit:
        paused = unit.control.paused() or {}
        waiting = [
            (one, due_at(one, _delivered(unit.outbox.find(one.warning_key))))
            for one in unit.journal.live_actions()
            if one.state is ActionState.WAITING
        ]
        ready = {
            name: not why_not_yet(
                policy,
                unit.journal.confirmed_by(name, policy_hash(policy)),
                paused_by=paused.get("by", ""),
                can_act=hand.enforcer is not None,
            )
            for name, policy in by_name.items()
        }
    due = []
    for action, at in waiting:
        policy = by_name.get(action.policy)
        if policy is None or policy_hash(policy) != action.policy_hash:
            continue  # the next evaluation calls it off
        if at is None or at > now or not ready[action.policy]:
            continue
        if waits_too_long(at, now):
            _cancelled(hand, action, LATE)
        else:
            due.append(action)
    return due


def _delivered(row: OutboxRow | None) -> datetime | None:
    """Return when Slack says it posted a message; None while it has not."""
    if row is None or row.state != SENT or not row.slack_ts:
        return None
    try:
        return datetime.fromtimestamp(float(row.slack_ts), UTC)
    except (ValueError, OverflowError):
        return None


def do_at_once(hand: Hand, action: Action) -> Outcome | None:
    """Do a waiting action that a person asked for: looked at in AWS, once, on record.

    None when nothing could be known, actions are paused, or somebody else is at it.
    """
    return _do(hand, action)


def _do(hand: Hand, action: Action) -> Outcome | None:
    """Look, mark, act, record; None when nothing could be known."""
    assert hand.enforcer is not None
    try:
        spared = _spared(hand, action)
    except SourceUnavailableError:
        return None  # nobody knows: it stays waiting and lapses in time
    if spared:
        return _cancelled(hand, action, spared)
    lease = hand.system_now() + LEASE
    with hand.store.write() as unit:
        is_paused = unit.control.paused() is not None
        if is_paused or not unit.journal.begin_action(
            action.action_id, now=hand.now(), lease_until=lease
        ):
            return None  # paused, or somebody else is at it
        record(unit, "action begun", action, hand.now())
    failures = {
        target.resource_id: reason
        for target in action.targets
        if (reason := _touch(hand, action.verb, target))
    }
    return _settled(hand, action, failures)


def _spared(hand: Hand, action: Action) -> str:
    """Look at every resource; say why the action must not happen, or ""."""
    assert hand.enforcer is not None
    for target in action.targets:
        live = hand.enforcer.look(target)
        reason = _why_left(hand, action, target, live)
        if reason:
            return f"{target.resource_id}: {reason}"
    return ""


def _why_left(hand: Hand, action: Action, target: Target, live: Live) -> str:
    if target.kind == CHECKPOINT:
        return why_checkpoint_spared(target, live, verb=action.verb, now=hand.now())
    reason = why_spared(target, live, verb=action.verb)
    if not reason and _job(live, hand.keys) != action.job:
        return "it works for another job now"
    return reason


def _job(live: Live, keys: TagKeys) -> str:
    return job_of(dict(live.tags), keys)


def _touch(hand: Hand, verb: str, target: Target) -> str:
    """Act on one resource unless somebody paused meanwhile; return what went wrong."""
    assert hand.enforcer is not None
    with hand.store.read() as unit:
        if unit.control.paused() is not None:
            return "actions were paused"
    try:
        hand.enforcer.act(verb, target)
    except SourceUnavailableError as error:
        return str(error)
    return ""


def _settled(hand: Hand, action: Action, failures: Mapping[str, str]) -> Outcome:
    reason = "; ".join(f"{name}: {why}" for name, why in sorted(failures.items()))
    state = ActionState.FAILED if failures else ActionState.DONE
    return _end(hand, action, state, reason)


def _end(hand: Hand, action: Action, state: ActionState, reason: str) -> Outcome:
    now = hand.now()
    with hand.store.write() as unit:
        if unit.journal.end_action(action.action_id, state, reason=reason, now=now):
            record(unit, f"action {state.value}", action, now, reason=reason)
            tell_end(unit, action, state, reason, now)
    return Outcome(action=action, state=state, reason=reason)


def _cancelled(hand: Hand, action: Action, reason: str) -> Outcome:
    with hand.store.write() as unit:
        cancel(unit, action, reason, hand.now())
    return Outcome(action=action, state=ActionState.CANCELLED, reason=reason)


def _settle_left(hand: Hand) -> list[Outcome]:
    """Find out what became of actions whose process died, by looking only."""
    if hand.enforcer is None:
        return []
    with hand.store.read() as unit:
        left = list(_left(unit, hand))
    outcomes = []
    for action in left:
        try:
            lives = [hand.enforcer.look(target) for target in action.targets]
        except SourceUnavailableError:
            continue
        is_done = all(
            is_over(action.verb, live)
            if target.kind == CHECKPOINT
            else live.state in ENDED
            for target, live in zip(action.targets, lives, strict=True)
        )
        state = ActionState.DONE if is_done else ActionState.FAILED
        outcomes.append(_end(hand, action, state, "" if is_done else LEFT))
    return outcomes


def _left(unit: UnitOfWork, hand: Hand) -> Sequence[Action]:
    return unit.journal.left_actions(hand.system_now())
