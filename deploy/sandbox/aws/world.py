"""The plain data that the AWS double answers from.

It must not know HTTP, moto or any service's wire format. A world is a value: it can
be written by hand, by the builders, or read from a JSON file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter

from deploy.sandbox.aws.world_anomalies import AnomalySeed
from deploy.sandbox.aws.world_plans import OfferedPlanSeed
from deploy.sandbox.aws.world_services import Services

STRICT = ConfigDict(extra="forbid")
DEFAULT_ACCOUNT = "123456789012"

#: How Cost Explorer's API spells RECORD_TYPE. The console shows other words
#: ("Savings Plan covered usage"); the API answers these.
RECORD_TYPES = (
    "Usage",
    "DiscountedUsage",
    "SavingsPlanCoveredUsage",
    "SavingsPlanNegation",
    "SavingsPlanRecurringFee",
    "SavingsPlanUpfrontFee",
    "Recurring",
    "Upfront",
    "RIFee",
    "Fee",
    "Support",
    "Credit",
    "Refund",
    "Tax",
    "Discount",
    "BundledDiscount",
    "Enterprise Discount Program Discount",
    "Private Rate Card Discount",
    "Solution Provider Program Discount",
    "Distributor Discount",
    "Other",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One account of the organisation."""

    __pydantic_config__ = STRICT

    id: str
    name: str = ""
    email: str = ""
    status: str = "ACTIVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSeed:
    """One line of cost, and when Cost Explorer knows it."""

    __pydantic_config__ = STRICT

    day: date
    account: str
    service: str
    usage_type: str
    unblended: str
    #: None: the same as `unblended`.
    net_unblended: str | None = None
    #: None: the same as `unblended`.
    amortized: str | None = None
    #: None: `amortized` if that is given, else the same as `net_unblended`.
    net_amortized: str | None = None
    record_type: str = "Usage"
    region: str = "us-east-1"
    operation: str = "RunInstances"
    purchase_type: str = "On Demand Instances"
    instance_type: str | None = None
    quantity: str = "0"
    unit: str = "Hrs"
    tags: Mapping[str, str] = field(default_factory=dict)
    resource: str | None = None
    savings_plan_arn: str | None = None
    #: The hour of the day for HOURLY queries; None spreads nothing: hour 0.
    hour: int | None = None
    #: When the line becomes visible; None: from the start of its day.
    arrived_at: datetime | None = None
    #: When the line disappears again because a restatement replaced it.
    replaced_at: datetime | None = None

    def visible(self, now: datetime) -> bool:
        """Return whether Cost Explorer shows the line at this instant."""
        arrived = self.arrived_at or datetime.combine(self.day, time.min, UTC)
        return arrived <= now and (self.replaced_at is None or now < self.replaced_at)

    def amounts(self) -> dict[str, str]:
        """Return the amount of each Cost Explorer metric, as text."""
        net = self.net_unblended or self.unblended
        amortized = self.amortized or self.unblended
        return {
            "UnblendedCost": self.unblended,
            "BlendedCost": self.unblended,
            "NetUnblendedCost": net,
            "AmortizedCost": amortized,
            "NetAmortizedCost": self.net_amortized or self.amortized or net,
            "UsageQuantity": self.quantity,
            "NormalizedUsageAmount": "0",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CostTag:
    """One cost allocation tag key and since when it counts."""

    __pydantic_config__ = STRICT

    key: str
    status: Literal["Active", "Inactive"] = "Active"
    type: Literal["UserDefined", "AWSGenerated"] = "UserDefined"
    #: Costs of earlier days are untagged; None: active for the whole history.
    activated_on: date | None = None
    #: From this instant on the history before the activation is tagged as well.
    backfilled_at: datetime | None = None

    def counts(self, day: date, now: datetime) -> bool:
        """Return whether a line of this day carries the tag at this instant."""
        if self.status != "Active":
            return False
        if self.activated_on is None or day >= self.activated_on:
            return self.activated_on is None or now.date() >= self.activated_on
        return self.backfilled_at is not None and self.backfilled_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class SavingsPlanSeed:
    """One Savings Plan that the organisation owns."""

    __pydantic_config__ = STRICT

    id: str
    start: datetime
    end: datetime
    #: Dollars an hour.
    commitment: str
    account: str = DEFAULT_ACCOUNT
    type: str = "Compute"
    payment_option: str = "No Upfront"
    region: str | None = None
    family: str | None = None
    state: str = "active"
    upfront: str = "0"
    #: usage type -> dollars an hour under the plan
    rates: Mapping[str, str] = field(default_factory=dict)

    @property
    def arn(self) -> str:
        """Return the plan's ARN."""
        return f"arn:aws:savingsplans::{self.account}:savingsplan/{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentDay:
    """One day of Savings Plan or reservation use, by region and family."""

    __pydantic_config__ = STRICT

    day: date
    kind: Literal["savings-plan", "reservation"]
    account: str = DEFAULT_ACCOUNT
    region: str = "us-east-1"
    service: str = "Amazon Elastic Compute Cloud - Compute"
    family: str = "p5"
    #: None: the family's 48xlarge.
    instance_type: str | None = None
    #: Dollars committed (plans) or hours purchased (reservations).
    committed: str = "0"
    used: str = "0"
    #: What the covered use would have cost on demand.
    on_demand_equivalent: str = "0"
    #: Dollars (plans) or hours (reservations) that ran on demand beside it.
    uncovered: str = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotSeed:
    """The spot price of one type in one zone from an instant on."""

    __pydantic_config__ = STRICT

    at: datetime
    instance_type: str
    zone: str
    price: str
    product: str = "Linux/UNIX"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceSeed:
    """One EC2 instance."""

    __pydantic_config__ = STRICT

    id: str
    instance_type: str
    launched_at: datetime
    account: str = DEFAULT_ACCOUNT
    region: str = "us-east-1"
    zone: str | None = None
    state: Literal["running", "stopped", "terminated"] = "running"
    #: When it was stopped or terminated.
    ended_at: datetime | None = None
    lifecycle: Literal["spot", "capacity-block"] | None = None
    capacity_reservation_id: str | None = None
    private_ip: str | None = None
    termination_protected: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSeed:
    """One EBS volume."""

    __pydantic_config__ = STRICT

    id: str
    created_at: datetime
    size_gib: int = 100
    volume_type: str = "gp3"
    account: str = DEFAULT_ACCOUNT
    region: str = "us-east-1"
    zone: str | None = None
    instance: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotSeed:
    """One EBS snapshot of a seeded volume."""

    __pydantic_config__ = STRICT

    id: str
    volume: str
    started_at: datetime
    account: str = DEFAULT_ACCOUNT
    region: str = "us-east-1"
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityReservationSeed:
    """One On-Demand Capacity Reservation or Capacity Block."""

    __pydantic_config__ = STRICT

    id: str
    instance_type: str
    started_at: datetime
    count: int = 1
    available: int = 0
    account: str = DEFAULT_ACCOUNT
    region: str = "us-east-1"
    zone: str | None = None
    ends_at: datetime | None = None
    state: str = "active"
    type: Literal["default", "capacity-block"] = "default"
    #: None: when it starts.
    bought_at: datetime | None = None
    #: Account that pays for what is unused; None: the owner.
    payer: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSeed:
    """One CloudWatch series."""

    __pydantic_config__ = STRICT

    namespace: str
    name: str
    dimensions: Mapping[str, str]
    points: list[tuple[datetime, float]]
    unit: str = "Percent"
    account: str = DEFAULT_ACCOUNT
    region: str = "us-east-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSeed:
    """One S3 object; its bucket is made when it does not exist."""

    __pydantic_config__ = STRICT

    bucket: str
    key: str
    modified_at: datetime
    #: The content; None: `size` bytes that cost no memory are reported.
    text: str | None = None
    size: int = 0
    account: str = DEFAULT_ACCOUNT
    region: str = "us-east-1"
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class World:
    """Everything that the double knows."""

    __pydantic_config__ = STRICT

    #: GPUCOST_NOW of this world; None leaves the sandbox's clock alone.
    now: str | None = None
    currency: str = "USD"
    #: The payer: the account of any credentials that assumed no role.
    caller_account: str = DEFAULT_ACCOUNT
    accounts: list[Account] = field(default_factory=list)
    costs: list[CostSeed] = field(default_factory=list)
    tags: list[CostTag] = field(default_factory=list)
    savings_plans: list[SavingsPlanSeed] = field(default_factory=list)
    offered_plans: list[OfferedPlanSeed] = field(default_factory=list)
    commitments: list[CommitmentDay] = field(default_factory=list)
    anomalies: list[AnomalySeed] = field(default_factory=list)
    spot: list[SpotSeed] = field(default_factory=list)
    instances: list[InstanceSeed] = field(default_factory=list)
    volumes: list[VolumeSeed] = field(default_factory=list)
    snapshots: list[SnapshotSeed] = field(default_factory=list)
    capacity_reservations: list[CapacityReservationSeed] = field(default_factory=list)
    metrics: list[MetricSeed] = field(default_factory=list)
    objects: list[ObjectSeed] = field(default_factory=list)
    services: Services = field(default_factory=Services)
    #: Extra Price List products, in GetProducts' own shape.
    products: list[dict[str, Any]] = field(default_factory=list)
    #: False: only `products`, without the shipped price list.
    shipped_prices: bool = True
    #: Groups on one page of Cost Explorer's answers.
    page_size: int = 5000
    #: A month's days stay estimated until this many days after its end...
    closes_after_days: int = 5
    #: ...or, when given, each day until this many days after its own end.
    estimated_days: int | None = None
    #: Whole months of history that Cost Explorer keeps (14 without opting in).
    history_months: int = 14

    def account_ids(self) -> list[str]:
        """Return the caller's account and every other one, each once."""
        ids = [self.caller_account, *(account.id for account in self.accounts)]
        return list(dict.fromkeys(ids))

    def estimated(self, day: date, now: datetime) -> bool:
        """Return whether a day's cost may still change."""
        if self.estimated_days is not None:
            end = day + timedelta(days=1 + self.estimated_days)
        else:
            next_month = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
            end = next_month + timedelta(days=self.closes_after_days)
        return now < datetime.combine(end, time.min, UTC)

    def dump(self) -> str:
        """Return the world as JSON text."""
        return WORLD.dump_json(self, indent=1, exclude_defaults=True).decode()


WORLD: TypeAdapter[World] = TypeAdapter(World)


def load_world(path: Path) -> World:
    """Read a world from a JSON file."""
    return WORLD.validate_json(path.read_bytes())
