"""What a line of the bill is: its categories, bucket, region and instance type.

Works from texts alone: the record type (as Cost Explorer or a cost report spells it),
the usage type and, where known, the service. Nothing is ever dropped: what is not
recognised is an adjustment of unknown kind. Knows no source and no ledger.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from billing.core.charges import Bucket, ChargeCategory, CostCategory, PricingCategory
from billing.core.data.region_codes import REGION_CODES
from billing.core.gpus import is_gpu_type

DEFAULT_REGION = "us-east-1"

_Kind = tuple[ChargeCategory, PricingCategory, Bucket]
_USAGE = ChargeCategory.USAGE
_COMMITTED = PricingCategory.COMMITTED
_OTHER = PricingCategory.OTHER

#: Record type without spaces, marks and case -> what it is. Console names (Cost
#: Explorer's screen) stand beside those of its API and of cost reports.
_RECORD_TYPES: dict[str, _Kind] = {
    "usage": (_USAGE, PricingCategory.STANDARD, Bucket.UNTAGGED),
    "discountedusage": (_USAGE, _COMMITTED, Bucket.UNTAGGED),
    "reservationappliedusage": (_USAGE, _COMMITTED, Bucket.UNTAGGED),
    "savingsplancoveredusage": (_USAGE, _COMMITTED, Bucket.UNTAGGED),
    "savingsplannegation": (
        ChargeCategory.ADJUSTMENT,
        _COMMITTED,
        Bucket.COMMITMENT_UNUSED,
    ),
    **dict.fromkeys(
        (
            "savingsplanrecurringfee",
            "savingsplanupfrontfee",
            "rifee",
            "recurringreservationfee",
            "upfrontreservationfee",
            "reservationupfrontfee",
        ),
        (ChargeCategory.PURCHASE, _COMMITTED, Bucket.COMMITMENT_UNUSED),
    ),
    "tax": (ChargeCategory.TAX, _OTHER, Bucket.OVERHEAD),
    "credit": (ChargeCategory.CREDIT, _OTHER, Bucket.CREDITS),
    "refund": (ChargeCategory.REFUND, _OTHER, Bucket.CREDITS),
    **dict.fromkeys(
        (
            "fee",
            "support",
            "supportfee",
            "enterprise",
            "outofcyclecharge",
            "otheroutofcyclecharge",
            "otheroutofcyclecharges",
        ),
        (ChargeCategory.FEE, _OTHER, Bucket.OVERHEAD),
    ),
}
#: Discounts as rows of their own (net amounts hold them already) and all the unknown.
_ADJUSTMENT: _Kind = (ChargeCategory.ADJUSTMENT, _OTHER, Bucket.OVERHEAD)

_LETTERS = re.compile(r"[^a-z]")
_REGION_LIKE = re.compile(r"[A-Z]{3}\d{1,2}")
_TYPE = re.compile(
    r":((?:ml\.)?[a-z][a-z0-9-]*\.(?:\d*x?large|medium|small|micro|nano|metal[\w-]*))$"
)
_RUNNING = re.compile(r"(?:^|-)(?:BoxUsage|SpotUsage|DedicatedUsage|HostBoxUsage):")
_SPOT = re.compile(r"(?:^|-)SpotUsage(?::|$)|:SpotUsage|SpotTraining")
_RESERVED_UNUSED = re.compile(r"(?:^|-)Unused(?:Box|Ded)(?::|$)")
_MANAGED = re.compile(r":ml\.|^SageMakerSP|-?SageMaker|AmazonEKS|Fargate|MWAA|Bedrock")
_STORAGE = re.compile(
    r"EBS:|Volume(?:Usage|IOUsage|P-)|Snapshot|TimedStorage|ByteHrs|GB-?Month"
    r"|Storage|Lustre|ThroughputCapacity|IOPS|Requests-Tier|EarlyDelete|Retrieval"
)
_NETWORK = re.compile(
    r"NatGateway|DataTransfer|DataXfer|-?AWS-(?:In|Out)-(?:AB)?-?Bytes|(?:In|Out)-Bytes"
    r"|LoadBalancer|LCUUsage|VpcEndpoint|VpcPeering|TransitGateway|PublicIPv4"
    r"|ElasticIP|DirectConnect|VPN"
)
_COMPUTE = re.compile(
    r"(?:Box|Spot|Dedicated|Host|Heavy)Usage|UnusedBox|UnusedDed|Reservation|CPUCredits"
    r"|DedicatedRes|ComputeSP|EC2(?:Instance)?SP|CapacityBlock|EBSOptimized|Lambda-GB"
)
#: The first match decides: volumes of managed services are storage.
_BY_USAGE_TYPE = (
    (re.compile(r"VolumeUsage|EBS:"), CostCategory.STORAGE),
    (_MANAGED, CostCategory.MANAGED_SERVICE),
    (_COMPUTE, CostCategory.COMPUTE),
    (_NETWORK, CostCategory.NETWORK),
    (_STORAGE, CostCategory.STORAGE),
)
#: Parts of service names in lower case; the first match decides.
_BY_SERVICE = (
    (
        (
            *("sagemaker", "kubernetes", "eks", "aws batch", "fargate", "bedrock"),
            *("elastic container service", "emr", "mapreduce", "parallel computing"),
        ),
        CostCategory.MANAGED_SERVICE,
    ),
    (
        ("fsx", "elastic file system", "simple storage service", "glacier"),
        CostCategory.STORAGE,
    ),
    (
        ("virtual private cloud", "load balancing", "data transfer"),
        CostCategory.NETWORK,
    ),
    (("elastic compute cloud - compute", "lambda"), CostCategory.COMPUTE),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """Everything that the texts of one line tell.

    Attributes:
        bucket: ``JOB`` when a job was given and the line can belong to one.
        job: The job given, or "" when the line cannot belong to a job.
        region: Region code; "" for global or unknown prefixes.
        instance_type: Such as ``p5.48xlarge`` or ``ml.p4d.24xlarge``; "" when none.
    """

    category: ChargeCategory
    pricing: PricingCategory
    cost_category: CostCategory
    bucket: Bucket
    job: str
    region: str
    instance_type: str


@lru_cache(maxsize=65_536)
def classify(
    record_type: str, usage_type: str, *, service: str = "", job: str = ""
) -> Classified:
    """Classify one line of the bill; it always gets an answer.

    A job (normalised id) takes what is usage; tax, fees, commitments, credits and
    refunds keep their named buckets.

    >>> found = classify("Usage", "USW2-SpotUsage:p5.48xlarge", job="job-123")
    >>> found.pricing.value, found.region, found.instance_type, found.bucket.value
    ('dynamic', 'us-west-2', 'p5.48xlarge', 'job')
    """
    category, pricing, bucket = _kind(record_type)
    is_usage = category is ChargeCategory.USAGE
    if is_usage and _SPOT.search(usage_type):
        pricing = PricingCategory.DYNAMIC
    if is_usage and _RESERVED_UNUSED.search(usage_type):
        bucket = Bucket.COMMITMENT_UNUSED
    owner = job if is_usage else ""
    return Classified(
        category=category,
        pricing=pricing,
        cost_category=cost_category(usage_type, service, is_usage=is_usage),
        bucket=Bucket.JOB if owner else bucket,
        job=owner,
        region=region_of(usage_type),
        instance_type=instance_type_of(usage_type),
    )


def is_usage_record(record_type: str) -> bool:
    """Tell whether a record type is usage that can carry a job's tag.

    >>> is_usage_record("Savings Plan Covered Usage"), is_usage_record("Tax")
    (True, False)
    """
    return _kind(record_type)[0] is ChargeCategory.USAGE


def cost_category(
    usage_type: str, service: str = "", *, is_usage: bool = True
) -> CostCategory:
    """Tell what the money buys; what nothing names is ``OTHER``.

    A commitment's fee names what it covers in its usage type; tax, support and
    credits without one are ``OTHER`` whatever their service.
    """
    by_type = _by_usage_type(usage_type)
    if by_type is not None:
        return by_type
    return _by_service(service) if is_usage else CostCategory.OTHER


def region_of(usage_type: str) -> str:
    """Return the region of a usage type; "" when it is global or not known.

    Most usage types of us-east-1 carry no prefix.

    >>> [region_of(t) for t in ("BoxUsage:p5.48xlarge", "EU-BoxUsage:g5.xlarge")]
    ['us-east-1', 'eu-west-1']
    >>> region_of("XYZ9-BoxUsage:p5.48xlarge"), region_of("")
    ('', '')
    """
    prefix, dash, _ = usage_type.partition("-")
    if dash and prefix in REGION_CODES:
        return REGION_CODES[prefix]
    is_nowhere = usage_type in {"", "NoUsageType"} or prefix == "Global"
    if is_nowhere or (dash and _REGION_LIKE.fullmatch(prefix)):
        return ""
    return DEFAULT_REGION


def instance_type_of(usage_type: str) -> str:
    """Return the instance type that a usage type ends in; "" when none."""
    found = _TYPE.search(usage_type)
    return found[1] if found else ""


def running_type_of(usage_type: str) -> str:
    """Return the EC2 type of a usage type that counts hours of running; else "".

    Unused reservations and reservation fees count no running.

    >>> running_type_of("USE2-BoxUsage:p5.48xlarge")
    'p5.48xlarge'
    >>> running_type_of("UnusedBox:p5.48xlarge")
    ''
    """
    return instance_type_of(usage_type) if _RUNNING.search(usage_type) else ""


def is_gpu_running(usage_type: str) -> bool:
    """Tell whether a usage type counts instance hours of a type with accelerators."""
    return is_gpu_type(running_type_of(usage_type))


def _kind(record_type: str) -> _Kind:
    return _RECORD_TYPES.get(_LETTERS.sub("", record_type.lower()), _ADJUSTMENT)


def _by_usage_type(usage_type: str) -> CostCategory | None:
    for pattern, category in _BY_USAGE_TYPE:
        if pattern.search(usage_type):
            return category
    return None


def _by_service(service: str) -> CostCategory:
    name = service.lower()
    for names, category in _BY_SERVICE:
        if any(part in name for part in names):
            return category
    return CostCategory.OTHER
