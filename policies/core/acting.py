"""What a policy's steps mean for one group of instances, and what cannot work."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from policies.core.capabilities import manager_of, refusal_of
from policies.core.document import WARN
from policies.core.finding import PlannedAction
from policies.core.judging import Judging
from policies.core.view import Group

#: Verbs that end an instance for good.
ENDING = frozenset({"terminate"})


def planned(
    judging: Judging, group: Group, steps: Iterable[tuple[str, datetime]]
) -> tuple[tuple[PlannedAction, ...], tuple[str, ...]]:
    """Return the steps that can work, in order, and sentences about the others.

    A verb that a manager answers with a replacement becomes what works there; one
    that cannot work at all is refused with the reason.
    """
    actions: list[PlannedAction] = []
    sentences: list[str] = []
    for verb, at in steps:
        if verb == WARN:
            actions.append(PlannedAction(do=verb, at=at))
            continue
        instead = _scaling_group(group)
        if instead:
            actions.append(PlannedAction(do="lower-desired-capacity", at=at))
            sentences.append(
                f"Auto Scaling group {instead} would replace what is ended: "
                "lower its desired capacity instead."
            )
            continue
        reason = _reason_against(verb, group)
        if reason:
            judging.refuse(f"{verb} {group.name}", reason)
            sentences.append(f"Cannot {verb}: {reason}.")
        else:
            actions.append(PlannedAction(do=verb, at=at))
    return tuple(actions), tuple(dict.fromkeys(sentences))


def _scaling_group(group: Group) -> str:
    """Name the Auto Scaling groups that hold the instances; "" when none does."""
    names = {
        one.instance.tags["aws:autoscaling:groupName"]
        for one in group.instances
        if manager_of(one.instance.tags) == "asg"
    }
    return ", ".join(sorted(names))


def _reason_against(verb: str, group: Group) -> str:
    reasons = []
    for one in group.instances:
        instance = one.instance
        manager = manager_of(instance.tags)
        reason = refusal_of(verb, manager, str(instance.lifecycle))
        if reason is None and verb in ENDING and instance.termination_protected:
            reason = f"{instance.resource_id} is protected against termination"
        if reason:
            reasons.append(reason)
    return "; ".join(sorted(set(reasons)))
