"""What exists in AWS, as observed at one instant.

Observations are facts with a time; how they become running intervals is
``billing.core.usage``. Knows nothing of boto3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from billing.core.resources import OtherResources


class Lifecycle(StrEnum):
    """How capacity was bought, as the instance itself says."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    CAPACITY_BLOCK = "capacity-block"
    #: SageMaker's managed spot training and spot instances of HyperPod.
    MANAGED_SPOT = "managed-spot"
    #: Capacity of SageMaker that was paid at purchase.
    TRAINING_PLAN = "training-plan"


class InstanceState(StrEnum):
    """EC2 instance states (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/)."""

    PENDING = "pending"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    SHUTTING_DOWN = "shutting-down"
    TERMINATED = "terminated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One EC2 instance as observed at one instant.

    Attributes:
        resource_id: Instance id, such as ``i-0abc``.
        launched_at: LaunchTime; AWS resets it at every start.
        transitioned_at: Time named in StateTransitionReason; None when it names none.
        transition_reason: The reason text without its time; "" when none.
        is_reclaimed: True when AWS took a spot instance back, False when a person or
            program ended it, None when the reason does not tell.
        tags: Raw tags, keys and values as AWS holds them.
        termination_protected: None when it was not asked for.
    """

    resource_id: str
    account: str
    region: str
    zone: str
    instance_type: str
    lifecycle: Lifecycle
    state: InstanceState
    launched_at: datetime
    transitioned_at: datetime | None = None
    transition_reason: str = ""
    is_reclaimed: bool | None = None
    platform: str = "Linux/UNIX"
    tenancy: str = "default"
    private_ip: str = ""
    capacity_reservation_id: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    termination_protected: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """One EBS volume as observed at one instant.

    Attributes:
        size_gib: Provisioned size in GiB.
        iops: Provisioned IOPS; None where the type has none.
        throughput_mibps: Provisioned throughput in MiB/s; None where none.
        attached_to: Instance id; "" when unattached.
    """

    resource_id: str
    account: str
    region: str
    zone: str
    volume_type: str
    size_gib: int
    state: str
    created_at: datetime
    iops: int | None = None
    throughput_mibps: int | None = None
    attached_to: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeFailure:
    """One account and region (or a whole source) that could not be read.

    Attributes:
        account: Account id; "" when the failure concerns every account.
        region: Region code; "" when the source has none.
        code: AWS error code or a name of ours, such as ``AccessDenied``.
        message: One sentence for a person, without credentials or request bodies.
    """

    source: str
    account: str
    region: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetObservation:
    """Everything one poll saw, and what it could not see.

    Only ``scanned`` scopes may end an interval by absence; anything known in another
    scope is stale, not gone. Without any scanned scope it is a look at a few
    instances, which says nothing about others.

    Attributes:
        observed_at: Instant before the first request of the poll.
        scanned: ``(account, region)`` pairs read completely, sorted.
        failures: Scopes that failed; their resources keep their last known state.
        others: What costs by time beside instances and volumes; None: not read.
    """

    observed_at: datetime
    instances: tuple[Instance, ...]
    volumes: tuple[Volume, ...]
    scanned: tuple[tuple[str, str], ...]
    failures: tuple[ScopeFailure, ...]
    others: OtherResources | None = None
