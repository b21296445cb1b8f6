"""Running intervals: when each resource ran, learned from observations.

An interval is ``[started_at, ended_at)`` of one resource in one shape (type, zone,
lifecycle). Pending time is not billed, LaunchTime resets at each start, so intervals
are recorded, never derived from the last state alone. Pure; knows no clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from billing.core.fleet import Lifecycle


class ResourceKind(StrEnum):
    """Kinds of resource that accrue cost by time."""

    __hash__ = str.__hash__  # As its equals; an enumeration's own is ten times slower.

    INSTANCE = "instance"
    VOLUME = "volume"
    #: Incremental, so what one holds, and costs, only the bill tells.
    SNAPSHOT = "snapshot"
    FILE_SYSTEM = "file-system"
    NAT_GATEWAY = "nat-gateway"
    #: A SageMaker training job; its units are its instances.
    TRAINING_JOB = "training-job"
    #: Instances of an ended training job that are kept for the next one.
    WARM_POOL = "warm-pool"
    #: One node of a HyperPod cluster.
    CLUSTER_NODE = "cluster-node"
    #: One production variant of an endpoint; its units are its instances.
    ENDPOINT = "endpoint"
    NOTEBOOK = "notebook"
    #: An application of SageMaker Studio that runs on an instance.
    STUDIO_APP = "studio-app"
    #: Reserved capacity that nothing runs in; its units are the idle instances.
    UNUSED_CAPACITY = "unused-capacity"
    #: Likewise, of a SageMaker training plan.
    UNUSED_PLAN = "unused-plan"


#: Kinds that are machines: what a job computes on.
MACHINES = frozenset(
    {
        ResourceKind.INSTANCE,
        ResourceKind.TRAINING_JOB,
        ResourceKind.WARM_POOL,
        ResourceKind.CLUSTER_NODE,
        ResourceKind.ENDPOINT,
        ResourceKind.NOTEBOOK,
        ResourceKind.STUDIO_APP,
    }
)


class EndBasis(StrEnum):
    """How well the end of an interval is known."""

    OPEN = "open"
    EXACT = "exact"
    #: Ended some time between two polls; `ended_at` is the earlier bound.
    BOUNDED = "bounded"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageInterval:
    """One resource in one shape over one half-open span of time.

    Attributes:
        started_at: Start of billed time.
        ended_at: End of billed time; None while it runs.
        ended_by: Latest possible end when ``end_basis`` is bounded; else None.
        last_seen_at: Last poll that saw it running.
        is_reclaimed: True when AWS took a spot instance back; None when unknown.
        size_gib: Size of a volume, snapshot or file system; 0 for others.
        throughput_mibps: Of a volume; of a file system, for each TiB of it.
        units: How many of the shape, such as the instances of a training job.
        billed_s: Seconds that AWS says are billed of the whole interval; None: all.
        reservation_id: Capacity reservation, block or training plan that it runs in;
            "" when none.
    """

    resource_id: str
    kind: ResourceKind
    account: str
    region: str
    zone: str
    shape: str
    lifecycle: Lifecycle
    started_at: datetime
    ended_at: datetime | None
    end_basis: EndBasis
    last_seen_at: datetime
    ended_by: datetime | None = None
    is_reclaimed: bool | None = None
    platform: str = "Linux/UNIX"
    tenancy: str = "default"
    size_gib: int = 0
    iops: int | None = None
    throughput_mibps: int | None = None
    parent_id: str = ""
    units: int = 1
    billed_s: int | None = None
    reservation_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagSpan:
    """One tag of one resource over the time it held.

    Attributes:
        valid_to: None while the tag holds.
    """

    resource_id: str
    key: str
    value: str
    valid_from: datetime
    valid_to: datetime | None
