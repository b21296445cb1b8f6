"""What a policy's steps mean for one group of instances, and what cannot work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from policies.core.capabilities import manager_of, refusal_of
from policies.core.document import WARN
from policies.core.finding import PlannedAction, Target
from policies.core.judging import Judging
from policies.core.view import Group

#: Verbs that end an instance for good.
ENDING = frozenset({"terminate"})


def planned(
    judging: Judging, group: Group, steps: Iterable[PlannedAction]
) -> tuple[tuple[PlannedAction, ...], tuple[str, ...]]:
    """Return the steps that can work, in order, and sentences about the others.

    A verb that a manager answers with a replacement becomes what works there; one
    that cannot work at all is refused with the reason.
    """
    actions: list[PlannedAction] = []
    sentences: list[str] = []
    for step in steps:
        if step.do == WARN:
            actions.append(step)
            continue
        instead = _scaling_group(group)
        if instead:
            actions.append(replace(step, do="lower-desired-capacity"))
            sentences.append(
                f"Auto Scaling group {instead} would replace what is ended: "
                "lower its desired capacity instead."
            )
            continue
        reason = _reason_against(step.do, group)
        if reason:
            judging.refuse(f"{step.do} {group.name}", reason)
            sentences.append(f"Cannot {step.do}: {reason}.")
        else:
            actions.append(step)
    return tuple(actions), tuple(dict.fromkeys(sentences))


def targets_of(group: Group) -> tuple[Target, ...]:
    """Return the resources of a group, as actions name them."""
    return tuple(
        sorted(
            Target(
                resource_id=one.instance.resource_id,
                account=one.instance.account,
                region=one.instance.region,
                manager=manager_of(one.instance.tags),
                lifecycle=str(one.instance.lifecycle),
                started_at=one.running_since,
            )
            for one in group.instances
        )
    )


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
