"""Actions on checkpoints: which are due, and what spares one at the last moment; pure.

A checkpoint is named by its folder and by the digest of exactly its versions, so that
whatever is written, removed or tagged away in between spares it. It is tagged first;
only what stayed tagged through its hold is deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from policies.core.actions import (
    FINAL,
    SKEW_MAX,
    TRIES_MAX,
    TRY_AGAIN_AFTER,
    Action,
    ActionState,
    Live,
    make_action,
    plan,
)
from policies.core.catalogue import Policy
from policies.core.document import Mode
from policies.core.finding import Evaluation, Finding, PlannedAction, Target
from policies.core.holding import CHECKPOINT, kept_by_tags

QUARANTINE_VERB = "quarantine"
DELETE_VERB = "delete"
#: What a look finds.
PRESENT, QUARANTINED, GONE = "present", "quarantined", ""
UNDONE = "its quarantine was undone"
#: Checkpoints of one action: so many are touched well within an action's lease.
BATCH_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Checkpoints that one step is for now, and which try it is."""

    step: PlannedAction
    targets: tuple[Target, ...]
    attempt: int


def is_about_checkpoints(targets: Sequence[Target]) -> bool:
    """Tell whether targets are checkpoints."""
    return bool(targets) and all(one.kind == CHECKPOINT for one in targets)


def plan_all(
    evaluation: Evaluation,
    policies: Sequence[Policy],
    opened: Mapping[str, datetime],
    known: Sequence[Action],
) -> list[Action]:
    """Return new actions on instances and on checkpoints; see `policies.core.actions`."""
    found = plan(evaluation, policies, opened, known)
    enforcing = {one.name: one for one in policies if one.mode is Mode.ENFORCE}
    for finding in evaluation.findings:
        policy = enforcing.get(finding.policy)
        at = opened.get(finding.fingerprint)
        if policy is None or at is None or not is_about_checkpoints(finding.targets):
            continue
        before = [one for one in known if one.fingerprint == finding.fingerprint]
        for batch in batches(finding, before, evaluation.now):
            part = replace(finding, targets=batch.targets)
            found.append(make_action(policy, part, batch.step, at, batch.attempt))
    return found


def batches(
    finding: Finding, known: Sequence[Action], now: datetime
) -> Iterator[Batch]:
    """Yield what each step is due for: one batch of a step is under way at a time.

    Args:
        finding: Whose targets are checkpoints.
        known: Every action planned for it before.
        now: The instant of planning.
    """
    tagged = _of(known, QUARANTINE_VERB, {ActionState.DONE})
    for step in finding.actions:
        before = [one for one in known if one.verb == step.do]
        if any(one.state not in FINAL for one in before):
            continue
        taken = _of(before, step.do, {ActionState.DONE}) | _given_up(before, now)
        due = [
            one
            for one in finding.targets
            if _key(one) not in taken
            and (step.do == QUARANTINE_VERB or _key(one) in tagged)
        ]
        if due:
            chosen = tuple(due[:BATCH_MAX])
            yield Batch(step=step, targets=chosen, attempt=len(before))


def _key(target: Target) -> tuple[str, str]:
    return target.resource_id, target.version


def _of(
    known: Sequence[Action], verb: str, states: Collection[ActionState]
) -> set[tuple[str, str]]:
    return {
        _key(target)
        for one in known
        if one.verb == verb and one.state in states
        for target in one.targets
    }


def _given_up(before: Sequence[Action], now: datetime) -> set[tuple[str, str]]:
    """Return what is not tried again: undone, tried too often, or just now."""
    ended: dict[tuple[str, str], list[Action]] = {}
    for action in before:
        for target in action.targets:
            ended.setdefault(_key(target), []).append(action)
    return {key for key, tries in ended.items() if _is_given_up(key[0], tries, now)}


def _is_given_up(name: str, tries: Sequence[Action], now: datetime) -> bool:
    is_recent = any(
        one.ended_at is not None and now - one.ended_at < TRY_AGAIN_AFTER
        for one in tries
    )
    is_undone = any(one.reason == f"{name}: {UNDONE}" for one in tries)
    return is_recent or is_undone or len(tries) >= TRIES_MAX


def why_not_these(action: Action, found: Finding) -> str:
    """Say why a fresh judgement lets some of an action's checkpoints stay; "" if none.

    More may have become due since; that is another action's matter.
    """
    if all(step.do != action.verb for step in found.actions):
        return f"the policy no longer calls for {action.verb}"
    due = {_key(one) for one in found.targets}
    missing = [one for one in action.targets if _key(one) not in due]
    if not missing:
        return ""
    return f"{missing[0].resource_id}: it is kept now, or was changed"


def why_checkpoint_spared(
    target: Target, live: Live, *, verb: str, now: datetime
) -> str:
    """Say why a checkpoint is left alone as S3 tells it now; "" when it may be."""
    held = [kept_by_tags({key: value}, now) for key, value in live.tags]
    skew = live.skew
    reasons = [
        (live.state == GONE, "it is gone"),
        (live.version != target.version, "it was changed since"),
        (any(held), next((reason for reason in held if reason), "")),
        (verb == DELETE_VERB and live.state != QUARANTINED, UNDONE),
        (live.is_protected is None, "whether its bucket locks objects is unknown"),
        (
            verb == DELETE_VERB and live.is_protected is True,
            "its bucket locks objects: nothing is deleted there",
        ),
        (skew is None, "AWS's clock is unknown"),
        (
            skew is not None and abs(skew) > SKEW_MAX,
            f"the clock differs from AWS's by over {SKEW_MAX.seconds} s",
        ),
    ]
    return next((reason for holds, reason in reasons if holds), "")


def is_over(verb: str, live: Live) -> bool:
    """Tell whether a look shows that a verb was done to a checkpoint."""
    return live.state == (QUARANTINED if verb == QUARANTINE_VERB else GONE)
