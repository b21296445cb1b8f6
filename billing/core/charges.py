"""Charges: immutable lines of cost for one account and billing day, and their words.

Column names and categories follow the FOCUS specification
(https://focus.finops.org/focus-specification/). Knows nothing of where the lines
are fetched from or stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from billing.core.money import Money


class ChargeCategory(StrEnum):
    """What a charge is for, by FOCUS; credits and refunds always stand apart."""

    USAGE = "usage"
    PURCHASE = "purchase"
    TAX = "tax"
    CREDIT = "credit"
    REFUND = "refund"
    FEE = "fee"
    ADJUSTMENT = "adjustment"


class PricingCategory(StrEnum):
    """How the price came about, by FOCUS (Dynamic is spot)."""

    STANDARD = "standard"
    DYNAMIC = "dynamic"
    COMMITTED = "committed"
    OTHER = "other"


class CostCategory(StrEnum):
    """What the money buys, as a person asks for it."""

    COMPUTE = "compute"
    STORAGE = "storage"
    NETWORK = "network"
    MANAGED_SERVICE = "managed service"
    OTHER = "other"


class Bucket(StrEnum):
    """The one place a cent ends in: a job, or one of the named remainders."""

    JOB = "job"
    IDLE = "idle"
    SHARED = "shared"
    COMMITMENT_UNUSED = "commitment-unused"
    OVERHEAD = "overhead"
    CREDITS = "credits"
    UNTAGGED = "untagged"


#: Prefix of the key of a bucket that is no job, in `--by job` groups.
BUCKET_PREFIX = "bucket:"


class Metric(StrEnum):
    """Which of a charge's amounts a question is about."""

    EFFECTIVE = "effective"
    BILLED = "billed"
    LIST = "list"


class Source(StrEnum):
    """Where facts come from; names of the contract's `ingest --source`."""

    COST_EXPLORER = "cost-explorer"
    EXPORTS = "exports"
    INVENTORY = "inventory"
    #: Other services than EC2's instances and volumes, read with the inventory.
    RESOURCES = "resources"
    METRICS = "metrics"
    PRICES = "prices"
    COMMITMENTS = "commitments"
    EVENTS = "events"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One line of cost from one source for one account and billing day.

    Attributes:
        account: AWS account id, 12 digits as text (leading zeros kept).
        day: UTC billing day.
        region: Region code; "" when the source gave none (global or unknown).
        service: Service name as billed; "" when the source cannot tell.
        usage_type: AWS usage type such as ``USE2-BoxUsage:p5.48xlarge``; "" if none.
        record_type: The source's own record type text, such as ``Usage``.
        category: FOCUS charge category.
        pricing: FOCUS pricing category.
        cost_category: Compute, storage, network, managed service or other.
        bucket: Where the cent belongs; ``JOB`` exactly when ``job`` is not "".
        job: Job id, normalised; "" when the bucket is no job.
        billed: Invoiced cost, all discounts included (NetUnblendedCost).
        effective: Amortised net cost (NetAmortizedCost).
        list_cost: Public price times quantity; None when the source cannot tell.
        quantity: Consumed quantity in ``unit``; None when not reported.
        unit: Unit of the quantity, such as ``Hrs``; "" when none.
        is_estimated: True while the source may still restate the day.
        raw_billed: The source's own text of the billed amount, before rounding.
        resource_id: The resource it is for (an id such as ``i-0abc``, or an ARN where
            AWS names no id); "" when the source cannot tell.
    """

    account: str
    day: date
    region: str
    service: str
    usage_type: str
    record_type: str
    category: ChargeCategory
    pricing: PricingCategory
    cost_category: CostCategory
    bucket: Bucket
    job: str
    billed: Money
    effective: Money
    list_cost: Money | None = None
    quantity: Decimal | None = None
    unit: str = ""
    is_estimated: bool = False
    raw_billed: str = ""
    resource_id: str = ""

    @property
    def is_credit(self) -> bool:
        """Tell whether the line is a credit or refund, which totals leave out."""
        return self.category in CREDIT_CATEGORIES


#: Kept out of totals "before credits and refunds".
CREDIT_CATEGORIES = frozenset({ChargeCategory.CREDIT, ChargeCategory.REFUND})


@dataclass(frozen=True, slots=True, kw_only=True)
class DayControl:
    """The source's own total of one account and day, from an independent query.

    Attributes:
        billed: Sum of billed cost, credits and refunds included.
        effective: Sum of effective cost, credits and refunds included.
        fingerprint: Text that changes when any control figure of the day moves.
        is_estimated: True while the source may still restate the day.
        read_at: When the source answered.
    """

    account: str
    day: date
    billed: Money
    effective: Money
    fingerprint: str
    is_estimated: bool
    read_at: datetime
