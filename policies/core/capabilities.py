"""Which verb fits which kind of capacity, and how much one evaluation may act on.

Data first: the table says what is possible and why the rest is not. Pure; acting
itself lives at the edge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from policies.core.document import Limits

#: Tag keys that tell who manages an instance, the most specific first.
MANAGER_TAGS = (
    ("karpenter.sh/nodepool", "karpenter"),
    ("karpenter.sh/provisioner-name", "karpenter"),
    ("parallelcluster:cluster-name", "parallelcluster"),
    ("sagemaker:cluster-name", "hyperpod"),
    ("eks:nodegroup-name", "eks-node-group"),
    ("AWSBatchServiceTag", "batch"),
    ("aws:autoscaling:groupName", "asg"),
    ("aws:ec2:fleet-id", "fleet"),
)
MANAGERS = ("ec2", *dict.fromkeys(manager for _, manager in MANAGER_TAGS))
LIFECYCLES = ("on-demand", "spot", "capacity-block")
VERBS = ("stop", "terminate", "lower-desired-capacity", "delete-node", "cancel-job")

#: What each manager lets one do to its instances.
POSSIBLE: Mapping[str, frozenset[str]] = {
    "ec2": frozenset({"stop", "terminate"}),
    "asg": frozenset({"lower-desired-capacity"}),
    "eks-node-group": frozenset({"lower-desired-capacity"}),
    "fleet": frozenset({"terminate"}),
    "karpenter": frozenset({"delete-node"}),
    "parallelcluster": frozenset({"cancel-job"}),
    "batch": frozenset({"cancel-job"}),
    "hyperpod": frozenset({"delete-node"}),
}
#: Why another verb does not work there, and what does.
INSTEAD: Mapping[str, str] = {
    "ec2": "a plain instance can be stopped or terminated only",
    "asg": "the Auto Scaling group would replace it: lower its desired capacity",
    "eks-node-group": "the node group would replace it: lower its desired size",
    "fleet": "fleet instances are replaced when stopped: terminate, or lower the target",
    "karpenter": "Karpenter owns the node: delete the node, it drains first",
    "parallelcluster": "Slurm marks the node down: cancel the job, the node ends itself",
    "batch": "Batch would run the job again: cancel the job",
    "hyperpod": "HyperPod replaces nodes: delete the node through its cluster",
}
#: Verbs a lifecycle forbids, whoever manages the instance.
FORBIDDEN: Mapping[tuple[str, str], str] = {
    ("spot", "stop"): "a one-time spot instance cannot be stopped: terminate it",
    ("capacity-block", "stop"): (
        "a Capacity Block is paid up front: stopping saves nothing"
    ),
    ("capacity-block", "terminate"): (
        "a Capacity Block is paid up front: ending it early saves nothing"
    ),
}


def manager_of(tags: Mapping[str, str]) -> str:
    """Name who manages an instance, by the tags managers put on it."""
    return next((manager for key, manager in MANAGER_TAGS if key in tags), "ec2")


def refusal_of(verb: str, manager: str, lifecycle: str) -> str | None:
    """Return None when a verb works there, else the reason why not."""
    if verb == "warn":
        return None
    if manager not in POSSIBLE:
        return f"nothing is known of capacity managed by {manager!r}"
    if lifecycle not in LIFECYCLES:
        return f"nothing is known of lifecycle {lifecycle!r}"
    if (lifecycle, verb) in FORBIDDEN:
        return FORBIDDEN[(lifecycle, verb)]
    return None if verb in POSSIBLE[manager] else INSTEAD[manager]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How many of some actions may happen in one evaluation.

    Attributes:
        allowed: Zero when any limit is zero.
        reason: What stopped the rest; "" when everything is allowed.
    """

    allowed: int
    reason: str = ""


def allowance(wanted: int, in_scope: int, limits: Limits) -> Allowance:
    """Apply the blast-radius limits to a whole evaluation: all of it, or not one.

    A plan above a limit is not cut to fit; something is wrong with it, so a person
    looks first. Zero means zero, never "unlimited".
    """
    share = share_of(in_scope, limits.max_share)
    allowed = min(limits.max_actions, share)
    if wanted <= allowed:
        return Allowance(allowed=wanted)
    return Allowance(
        allowed=0, reason=f"{wanted} findings, {allowed} allowed by limits"
    )


def share_of(in_scope: int, max_share: Fraction) -> int:
    """Return how many subjects a share is: rounded down, at least one unless 0 %."""
    if max_share == 0 or in_scope == 0:
        return 0
    return max(1, math.floor(in_scope * max_share))


def managers_of(tags: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Name the managers of several instances, sorted, each once."""
    return tuple(sorted({manager_of(of_one) for of_one in tags}))
