"""Parents: what a resource without a job of its own was started for.

The tags and names by which AWS and schedulers mark what they start. A thing that is
one run (a SageMaker job, a SkyPilot cluster) lends its own name; a group that many runs
share (a queue, a cluster) lends its name behind its kind (``eks:prod``), so that nobody
takes it for a job. Pure; knows no store.

Sources: https://docs.aws.amazon.com/batch/latest/userguide/using-tags.html,
https://docs.aws.amazon.com/parallelcluster/latest/ug/working-with-tags.html (its keys
begin with ``parallelcluster:``), https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html,
https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html,
https://github.com/skypilot-org/skypilot (sky/provision/constants.py),
https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemaker.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from billing.core.attribution import choose, normalise_job


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentTag:
    """One kind of parent that is known by a tag.

    Attributes:
        keys: Tag keys that hold its name, in order of precedence.
        prefix: Stands before the name of a group; "" for what is one run.
    """

    kind: str
    keys: tuple[str, ...]
    prefix: str = ""


PARENT_TAGS = (
    ParentTag(kind="skypilot", keys=("skypilot-cluster-name",)),
    ParentTag(
        kind="batch",
        keys=(
            "aws:batch:job-definition",
            "aws:batch:job-queue",
            "aws:batch:compute-environment",
        ),
        prefix="batch:",
    ),
    ParentTag(
        kind="parallelcluster",
        keys=("parallelcluster:cluster-name",),
        prefix="parallelcluster:",
    ),
    ParentTag(
        kind="eks",
        keys=("aws:eks:cluster-name", "eks:cluster-name"),
        prefix="eks:",
    ),
    ParentTag(kind="asg", keys=("aws:autoscaling:groupname",), prefix="asg:"),
)
#: Kinds that can be switched on, in the order in which they are asked.
PARENT_KINDS = ("sagemaker", *(one.kind for one in PARENT_TAGS))

_SAGEMAKER = re.compile(
    r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]*:[0-9]*:"
    r"(?:training-job|processing-job|transform-job|endpoint)/([^/\s]+)"
)


def parent_of_name(resource_id: str, kinds: Sequence[str]) -> str:
    """Return the run that a resource's own name tells; "" when it tells none.

    >>> parent_of_name("arn:aws:sagemaker:us-east-1:1:training-job/Bert-7", ["sagemaker"])
    'bert-7'
    """
    found = _SAGEMAKER.match(resource_id) if "sagemaker" in kinds else None
    return normalise_job(found[1]) if found else ""


def parent_of_tags(tags: Mapping[str, str], kinds: Sequence[str]) -> str:
    """Return the key of the first parent that tags name; "" when none does.

    >>> parent_of_tags({"eks:cluster-name": "Prod"}, ["eks"])
    'eks:prod'
    """
    for one in PARENT_TAGS:
        if one.kind in kinds:
            name = normalise_job(choose(tags, one.keys).value)
            if name:
                return f"{one.prefix}{name}"
    return ""


def parent_tag_keys(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return every tag key that may name a parent."""
    return tuple(key for one in PARENT_TAGS if one.kind in kinds for key in one.keys)


def tags_behind(key: str, kinds: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return which tag keys with which value make this key; ``((), "")`` when none can.

    >>> tags_behind("asg:trainers", ["asg"])
    (('aws:autoscaling:groupname',), 'trainers')
    """
    for one in PARENT_TAGS:
        if one.kind in kinds and one.prefix and key.startswith(one.prefix):
            return one.keys, key.removeprefix(one.prefix)
    plain = [one for one in PARENT_TAGS if one.kind in kinds and not one.prefix]
    return tuple(name for one in plain for name in one.keys), key if plain else ""
