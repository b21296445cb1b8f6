"""What costs by time beside instances and volumes, as observed at one instant.

Managed services, file systems, gateways, snapshots and reserved capacity: each service is
read on its own, so that one that is closed, or missing in a region, takes nothing from the
others. Knows no boto3; how observations become intervals is ``billing.core.advance``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from fractions import Fraction

from billing.core.fleet import Lifecycle
from billing.core.money import Money, Rate
from billing.core.usage import ResourceKind

_SECOND = timedelta(seconds=1)


class Service(StrEnum):
    """What is read as a whole or not at all; the text is for people."""

    SNAPSHOTS = "EBS snapshots"
    NAT_GATEWAYS = "NAT gateways"
    FILE_SYSTEMS = "FSx for Lustre"
    RESERVATIONS = "capacity reservations"
    TRAINING = "SageMaker training"
    CLUSTERS = "SageMaker HyperPod"
    ENDPOINTS = "SageMaker endpoints"
    NOTEBOOKS = "SageMaker notebooks"
    STUDIO = "SageMaker Studio"
    TRAINING_PLANS = "SageMaker training plans"


SERVICE_OF = {
    ResourceKind.SNAPSHOT: Service.SNAPSHOTS,
    ResourceKind.NAT_GATEWAY: Service.NAT_GATEWAYS,
    ResourceKind.FILE_SYSTEM: Service.FILE_SYSTEMS,
    ResourceKind.TRAINING_JOB: Service.TRAINING,
    ResourceKind.WARM_POOL: Service.TRAINING,
    ResourceKind.CLUSTER_NODE: Service.CLUSTERS,
    ResourceKind.ENDPOINT: Service.ENDPOINTS,
    ResourceKind.NOTEBOOK: Service.NOTEBOOKS,
    ResourceKind.STUDIO_APP: Service.STUDIO,
    ResourceKind.UNUSED_CAPACITY: Service.RESERVATIONS,
    ResourceKind.UNUSED_PLAN: Service.TRAINING_PLANS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource as observed at one instant.

    Attributes:
        resource_id: Unique over all accounts: an id of EC2 or FSx, else an ARN.
        shape: What its price depends on, such as ``ml.p4d.24xlarge``.
        started_at: Start of the present run (of billed time, where AWS names it).
        ended_at: Exact end; None while it runs, or when AWS names none.
        is_running: Whether it costs by time now.
        is_level: ``units`` is how it stands now; nothing is known of before.
        units / billed_s / reservation_id / parent_id: As in ``UsageInterval``.
    """

    resource_id: str
    kind: ResourceKind
    account: str
    region: str
    shape: str
    started_at: datetime
    zone: str = ""
    lifecycle: Lifecycle = Lifecycle.ON_DEMAND
    ended_at: datetime | None = None
    is_running: bool = True
    is_level: bool = False
    units: int = 1
    size_gib: int = 0
    throughput_mibps: int | None = None
    billed_s: int | None = None
    platform: str = "Linux/UNIX"
    tenancy: str = "default"
    reservation_id: str = ""
    parent_id: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


class ReservationKind(StrEnum):
    """Ways to hold capacity."""

    ON_DEMAND = "on-demand"
    CAPACITY_BLOCK = "capacity-block"
    TRAINING_PLAN = "training-plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Reserved capacity as observed at one instant.

    Attributes:
        reservation_id: Such as ``cr-0abc``, or the ARN of a training plan.
        count: Instances it holds in all.
        available: Instances of it that nothing uses; None when AWS does not say.
        ends_at: None: until it is cancelled.
        bought_at: When it was made; for what is paid at purchase, the day of the fee.
        fee: What it cost at purchase; None when nobody knows.
        extension_fee: What extensions cost that are paid; None when there are none.
        instance_s: Instance-seconds that the fee buys; None: all from start to end.
        block_id: Block that a reservation is part of; "" when none.
    """

    reservation_id: str
    kind: ReservationKind
    account: str
    region: str
    zone: str
    instance_type: str
    count: int
    available: int | None
    state: str
    starts_at: datetime
    ends_at: datetime | None
    bought_at: datetime | None = None
    fee: Money | None = None
    extension_fee: Money | None = None
    instance_s: int | None = None
    block_id: str = ""
    platform: str = "Linux/UNIX"
    tenancy: str = "default"
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_prepaid(self) -> bool:
        """Tell whether its fee was paid at purchase."""
        return self.kind is not ReservationKind.ON_DEMAND

    @property
    def rate(self) -> Rate | None:
        """Return the fee of an hour of one instance; None where it is not known.

        Fees of extensions are spread over the whole time as well.
        """
        if self.fee is None or self.ends_at is None:
            return None
        held_s = self.instance_s
        if held_s is None:
            held_s = self.count * ((self.ends_at - self.starts_at) // _SECOND)
        if held_s <= 0:
            return None
        paid = self.fee if self.extension_fee is None else self.fee + self.extension_fee
        return Rate(round(Fraction(paid.nanos * 3600, held_s)), paid.currency)


#: Account, region and service that were read completely.
ServiceScope = tuple[str, str, Service]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFailure:
    """One service of one account and region that could not be read."""

    account: str
    region: str
    service: Service
    code: str
    message: str

    @property
    def text(self) -> str:
        """Return it for a person: what, where and why."""
        return f"{self.service.value} in {self.region}: {self.message}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherResources:
    """What one poll saw beside instances and volumes.

    Attributes:
        scanned: Only these may end anything by absence.
        failures: What is known there stays as it was.
    """

    resources: tuple[Resource, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    scanned: tuple[ServiceScope, ...] = ()
    failures: tuple[ServiceFailure, ...] = ()
