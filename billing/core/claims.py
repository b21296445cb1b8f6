"""What is known of who may hold a resource: the values that holdings are made from.

Pure; knows no store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction

from billing.core.assignments import Assignment, MappingRule
from billing.core.attribution import TagKeys
from billing.core.charges import BUCKET_PREFIX, Bucket
from billing.core.fleet import Lifecycle
from billing.core.parents import PARENT_KINDS
from billing.core.periods import Period
from billing.core.placements import Placement
from billing.core.transfers import Rule
from billing.core.usage import ResourceKind, TagSpan, UsageInterval

IDLE_KEY = f"{BUCKET_PREFIX}{Bucket.IDLE}"
SHARED_KEY = f"{BUCKET_PREFIX}{Bucket.SHARED}"
UNTAGGED_KEY = f"{BUCKET_PREFIX}{Bucket.UNTAGGED}"
#: A job tag that appears this soon after a start counts from the start.
LATE_TAGS = timedelta(hours=1)
#: Before the name of a team that gets cost of no job of its own.
TEAM_PREFIX = "team:"
ALL = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionRules:
    """What the configuration says of attribution.

    Attributes:
        late_tags: How late after a start a job tag may appear and still count from it.
        parents: Kinds of parents that count (`billing.core.parents.PARENT_KINDS`).
        shares: What shared cost is split by GPU hours: ``nat``, ``fsx``, ``transfer``.
        is_proportional: Commitment benefit goes to all eligible use of a family alike.
    """

    keys: TagKeys = field(default_factory=TagKeys)
    late_tags: timedelta = LATE_TAGS
    parents: tuple[str, ...] = PARENT_KINDS
    mapping: tuple[MappingRule, ...] = ()
    shares: tuple[str, ...] = ("nat", "fsx", "transfer")
    is_proportional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A resource as far as its holders depend on it.

    Attributes:
        shape: Instance type, or "" where none is known.
        started_at: When the running span began that is asked about; None when unknown.
        usage_type: What the bill calls its use, for rules by usage type.
    """

    resource_id: str
    account: str
    region: str
    shape: str = ""
    parent_id: str = ""
    started_at: datetime | None = None
    usage_type: str = ""
    service: str = ""


@dataclass(frozen=True, slots=True)
class Holder:
    """One key's part of a resource; the shares of an instant sum to 1.

    Attributes:
        key: A job, ``bucket:idle``, or "" for the part that nobody is known for.
        rule: Why; None for "".
        evidence: One short line for a person.
    """

    key: str
    share: Fraction = ALL
    rule: Rule | None = None
    evidence: str = ""


NOBODY = Holder("")


@dataclass(frozen=True, slots=True)
class Segment:
    """A span of one resource within which nothing changes.

    Attributes:
        tagged: The job of the resource's own tag, which the bill may show; "" if none.
    """

    period: Period
    tagged: str
    holders: tuple[Holder, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Everything known of who may hold what, by resource.

    Attributes:
        tags: Tag history: keys of jobs, of parents and of mapping rules.
        managed: Resources that ever had a placement: idle between jobs, not untagged.
        subjects: Parents of resources, as far as they are known themselves.
        special: Resources whose job tags alone do not say it all; None: any may be one.
    """

    rules: AttributionRules = field(default_factory=AttributionRules)
    tags: Mapping[str, Sequence[TagSpan]] = field(default_factory=dict)
    placements: Mapping[str, Sequence[Placement]] = field(default_factory=dict)
    managed: frozenset[str] = frozenset()
    assignments: tuple[Assignment, ...] = ()
    subjects: Mapping[str, Subject] = field(default_factory=dict)
    special: frozenset[str] | None = None

    def concern(self, interval: UsageInterval) -> bool:
        """Tell whether an interval, or what it hangs on, may be held otherwise."""
        if self.special is None:
            return True
        return (
            interval.resource_id in self.special or interval.parent_id in self.special
        )


def subject_of(interval: UsageInterval) -> Subject:
    """Return an interval as a subject, under the usage type that its time is billed by."""
    is_instance = interval.kind is ResourceKind.INSTANCE
    usage = interval.shape
    if interval.kind is ResourceKind.VOLUME:
        usage = f"EBS:VolumeUsage.{interval.shape}"
    elif is_instance:
        is_spot = interval.lifecycle is Lifecycle.SPOT
        usage = f"{'SpotUsage' if is_spot else 'BoxUsage'}:{interval.shape}"
    return Subject(
        resource_id=interval.resource_id,
        account=interval.account,
        region=interval.region,
        shape=interval.shape if is_instance else "",
        parent_id=interval.parent_id,
        started_at=interval.started_at,
        usage_type=usage,
    )
