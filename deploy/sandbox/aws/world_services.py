"""The plain data of services beside EC2's instances, as part of a world.

It must not know HTTP or any wire format. How a thing stands follows from the clock: a
training job runs until its end, a plan is active between its bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from pydantic import ConfigDict

STRICT = ConfigDict(extra="forbid")
ACCOUNT = "123456789012"
REGION = "us-east-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSeed:
    """One instance group of a heterogeneous training job."""

    __pydantic_config__ = STRICT

    name: str
    instance_type: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJobSeed:
    """One SageMaker training job."""

    __pydantic_config__ = STRICT

    name: str
    created_at: datetime
    instance_type: str | None = "ml.p4d.24xlarge"
    count: int = 1
    groups: list[GroupSeed] = field(default_factory=list)
    #: None: instances are still looked for.
    started_at: datetime | None = None
    ended_at: datetime | None = None
    #: None: as long as it ran.
    billable_s: int | None = None
    spot: bool = False
    plan: str = ""
    #: Its instances stay until then after its end.
    warm_until: datetime | None = None
    account: str = ACCOUNT
    region: str = REGION
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        """Return the job's ARN."""
        return (
            f"arn:aws:sagemaker:{self.region}:{self.account}:training-job/{self.name}"
        )

    def modified_at(self, now: datetime) -> datetime:
        """Return when it changed last."""
        changes = (self.created_at, self.started_at, self.ended_at, self.warm_until)
        return max(at for at in changes if at is not None and at <= now)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSeed:
    """One node of a HyperPod cluster."""

    __pydantic_config__ = STRICT

    id: str
    launched_at: datetime
    status: str = "Running"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterGroupSeed:
    """One instance group of a HyperPod cluster."""

    __pydantic_config__ = STRICT

    name: str
    instance_type: str
    nodes: list[NodeSeed] = field(default_factory=list)
    plan: str = ""
    spot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSeed:
    """One HyperPod cluster."""

    __pydantic_config__ = STRICT

    name: str
    created_at: datetime
    groups: list[ClusterGroupSeed] = field(default_factory=list)
    id: str = "abcdef123456"
    account: str = ACCOUNT
    region: str = REGION
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        """Return the cluster's ARN."""
        return f"arn:aws:sagemaker:{self.region}:{self.account}:cluster/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSeed:
    """One production variant of an endpoint; without a type it is serverless."""

    __pydantic_config__ = STRICT

    name: str = "AllTraffic"
    instance_type: str | None = "ml.g5.xlarge"
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSeed:
    """One endpoint."""

    __pydantic_config__ = STRICT

    name: str
    created_at: datetime
    variants: list[VariantSeed] = field(default_factory=lambda: [VariantSeed()])
    modified_at: datetime | None = None
    status: str = "InService"
    account: str = ACCOUNT
    region: str = REGION
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        """Return the endpoint's ARN."""
        return f"arn:aws:sagemaker:{self.region}:{self.account}:endpoint/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookSeed:
    """One notebook instance."""

    __pydantic_config__ = STRICT

    name: str
    created_at: datetime
    instance_type: str = "ml.g5.xlarge"
    status: str = "InService"
    modified_at: datetime | None = None
    account: str = ACCOUNT
    region: str = REGION
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        """Return the notebook's ARN."""
        place = f"{self.region}:{self.account}"
        return f"arn:aws:sagemaker:{place}:notebook-instance/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudioAppSeed:
    """One application of SageMaker Studio, of a space or of a user."""

    __pydantic_config__ = STRICT

    name: str
    created_at: datetime
    domain: str = "d-abcdefghijkl"
    space: str | None = None
    user: str | None = None
    type: str = "JupyterLab"
    instance_type: str = "ml.g5.xlarge"
    status: str = "InService"
    account: str = ACCOUNT
    region: str = REGION
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        """Return the application's ARN."""
        owner = self.space or self.user
        path = f"{self.domain}/{owner}/{self.type.lower()}/{self.name}"
        return f"arn:aws:sagemaker:{self.region}:{self.account}:app/{path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlanSeed:
    """One training plan, paid at purchase."""

    __pydantic_config__ = STRICT

    name: str
    starts_at: datetime
    ends_at: datetime
    fee: str
    instance_type: str = "ml.p5.48xlarge"
    count: int = 1
    available: int = 0
    account: str = ACCOUNT
    region: str = REGION

    @property
    def arn(self) -> str:
        """Return the plan's ARN."""
        place = f"{self.region}:{self.account}"
        return f"arn:aws:sagemaker:{place}:training-plan/{self.name}"

    @property
    def length(self) -> timedelta:
        """Return how long it holds."""
        return self.ends_at - self.starts_at


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystemSeed:
    """One FSx for Lustre file system (or one of another type)."""

    __pydantic_config__ = STRICT

    id: str
    created_at: datetime
    size_gib: int = 1200
    type: Literal["LUSTRE", "WINDOWS", "ONTAP", "OPENZFS"] = "LUSTRE"
    deployment: str = "PERSISTENT_2"
    storage: str = "SSD"
    throughput: int | None = 125
    lifecycle: str = "AVAILABLE"
    account: str = ACCOUNT
    region: str = REGION
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NatGatewaySeed:
    """One NAT gateway."""

    __pydantic_config__ = STRICT

    id: str
    created_at: datetime
    deleted_at: datetime | None = None
    account: str = ACCOUNT
    region: str = REGION
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionSeed:
    """One extension of a Capacity Block."""

    __pydantic_config__ = STRICT

    reservation: str
    bought_at: datetime
    hours: int
    fee: str
    status: str = "payment-succeeded"


@dataclass(slots=True, kw_only=True)
class Services:
    """What services beside EC2's instances hold."""

    __pydantic_config__ = STRICT

    training_jobs: list[TrainingJobSeed] = field(default_factory=list)
    clusters: list[ClusterSeed] = field(default_factory=list)
    endpoints: list[EndpointSeed] = field(default_factory=list)
    notebooks: list[NotebookSeed] = field(default_factory=list)
    studio_apps: list[StudioAppSeed] = field(default_factory=list)
    training_plans: list[TrainingPlanSeed] = field(default_factory=list)
    file_systems: list[FileSystemSeed] = field(default_factory=list)
    nat_gateways: list[NatGatewaySeed] = field(default_factory=list)
    extensions: list[ExtensionSeed] = field(default_factory=list)
