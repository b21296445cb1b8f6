"""Assignments and mapping rules: what people say of cost that nothing else places.

An assignment was confirmed by a person for one resource or one pattern of usage, and
counts back in time; a mapping rule stands in the configuration. Both are asked only
where scheduler, tags and parents say nothing. Pure; knows no store.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Untagged cost that a person said belongs to a job.

    Exactly one of ``resource_id`` and ``usage_type`` is given.

    Attributes:
        job: Job id, normalised.
        account: Account id that the cost is in.
        resource_id: One resource, such as ``vol-0abc``; "" when by usage.
        usage_type: Pattern of usage types (``*NatGateway*``, case matters); "" when by
            resource.
        region: Only cost of this region; "" for every region.
        since: From when on it holds; may lie long before ``at``.
        until: None while it holds on.
        by: Pseudonym of the person.
        at: When the person confirmed it.
        assignment_id: The ledger's number; None before it is stored.
    """

    job: str
    account: str
    since: datetime
    until: datetime | None
    by: str
    at: datetime
    resource_id: str = ""
    usage_type: str = ""
    region: str = ""
    reason: str = ""
    assignment_id: int | None = None

    def __post_init__(self) -> None:
        """Refuse an assignment of everything, or of two things at once."""
        assert self.job, "an assignment names a job"
        assert bool(self.resource_id) != bool(self.usage_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingRule:
    """One rule of the configuration: where it fits, cost belongs to a job or team.

    "" in a condition fits everything.

    Attributes:
        usage_type: Pattern of usage types (``*BoxUsage:p5*``, case matters).
        tag_key / tag_value: A tag of the resource, compared as job tags are; a key
            alone fits any value.
        to_key: The job that gets it, or ``team:NAME``.
        name: How the rule is called in an explanation.
    """

    to_key: str
    name: str
    account: str = ""
    region: str = ""
    service: str = ""
    usage_type: str = ""
    tag_key: str = ""
    tag_value: str = ""


def fits_usage(pattern: str, usage_type: str) -> bool:
    """Tell whether a usage type fits a pattern; "" fits everything.

    >>> fits_usage("*BoxUsage:p5.*", "USE2-BoxUsage:p5.48xlarge")
    True
    """
    return not pattern or fnmatchcase(usage_type, pattern)
