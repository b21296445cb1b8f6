"""Values of billing for tests: each builder takes only what the test is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from billing.core.charges import (
    Bucket,
    Charge,
    ChargeCategory,
    CostCategory,
    DayControl,
    PricingCategory,
)
from billing.core.fleet import (
    FleetObservation,
    Instance,
    InstanceState,
    Lifecycle,
    ScopeFailure,
    Volume,
)
from billing.core.money import Money, Rate
from billing.core.periods import Period
from billing.core.prices import Price, PriceKey, Purchase
from billing.core.usage import EndBasis, ResourceKind, TagSpan, UsageInterval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ACCOUNT = "012345678901"
REGION = "us-east-1"
ZONE = "us-east-1a"
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def at(text: str) -> datetime:
    """Read an instant such as `2026-11-01`, `2026-11-01T00:00Z` (UTC when bare)."""
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        return instant.replace(tzinfo=UTC)
    return instant.astimezone(UTC)


def day(text: str) -> date:
    return date.fromisoformat(text)


def period(start: str, end: str) -> Period:
    return Period(at(start), at(end))


def usd(text: str) -> Money:
    return Money.of(text)


def make_charge(
    *,
    job: str = "job-123",
    on: str = "2026-11-01",
    billed: str = "10",
    effective: str | None = None,
    list_cost: str | None = None,
    currency: str = "USD",
    account: str = ACCOUNT,
    bucket: Bucket | None = None,
    region: str = REGION,
    service: str = "Amazon Elastic Compute Cloud - Compute",
    usage_type: str = "BoxUsage:p5.48xlarge",
    record_type: str = "Usage",
    category: ChargeCategory = ChargeCategory.USAGE,
    pricing: PricingCategory = PricingCategory.STANDARD,
    cost_category: CostCategory = CostCategory.COMPUTE,
    quantity: str | None = None,
    is_estimated: bool = False,
) -> Charge:
    """Make a charge; without a job (`job=""`) its bucket is `untagged`."""
    return Charge(
        account=account,
        day=day(on),
        region=region,
        service=service,
        usage_type=usage_type,
        record_type=record_type,
        category=category,
        pricing=pricing,
        cost_category=cost_category,
        bucket=bucket or (Bucket.JOB if job else Bucket.UNTAGGED),
        job=job,
        billed=Money.of(billed, currency),
        effective=Money.of(billed if effective is None else effective, currency),
        list_cost=None if list_cost is None else Money.of(list_cost, currency),
        quantity=None if quantity is None else Decimal(quantity),
        is_estimated=is_estimated,
        raw_billed=billed,
    )


def make_control(
    *,
    on: str = "2026-11-01",
    billed: str = "10",
    effective: str | None = None,
    account: str = ACCOUNT,
    fingerprint: str | None = None,
    is_estimated: bool = False,
    read_at: datetime = NOW,
) -> DayControl:
    effective = billed if effective is None else effective
    return DayControl(
        account=account,
        day=day(on),
        billed=Money.of(billed),
        effective=Money.of(effective),
        fingerprint=fingerprint or f"{billed}|{effective}|{is_estimated}",
        is_estimated=is_estimated,
        read_at=read_at,
    )


def make_instance(
    *,
    resource_id: str = "i-1",
    instance_type: str = "p5.48xlarge",
    state: InstanceState = InstanceState.RUNNING,
    lifecycle: Lifecycle = Lifecycle.ON_DEMAND,
    launched: str | datetime = "2026-11-30T00:00Z",
    ended: str | datetime | None = None,
    tags: Mapping[str, str] | None = None,
    account: str = ACCOUNT,
    region: str = REGION,
    zone: str | None = None,
    is_reclaimed: bool | None = None,
    transition_reason: str = "",
    platform: str = "Linux/UNIX",
    tenancy: str = "default",
    private_ip: str = "",
    capacity_reservation_id: str = "",
    termination_protected: bool | None = None,
) -> Instance:
    """Make an instance; `ended` is the time of its StateTransitionReason."""
    return Instance(
        resource_id=resource_id,
        account=account,
        region=region,
        zone=f"{region}a" if zone is None else zone,
        instance_type=instance_type,
        lifecycle=lifecycle,
        state=state,
        launched_at=_instant(launched),
        transitioned_at=None if ended is None else _instant(ended),
        transition_reason=transition_reason,
        is_reclaimed=is_reclaimed,
        platform=platform,
        tenancy=tenancy,
        private_ip=private_ip,
        capacity_reservation_id=capacity_reservation_id,
        tags={"job-id": "job-123"} if tags is None else dict(tags),
        termination_protected=termination_protected,
    )


def make_volume(
    *,
    resource_id: str = "vol-1",
    volume_type: str = "gp3",
    size_gib: int = 100,
    state: str = "in-use",
    created: str | datetime = "2026-11-30T00:00Z",
    attached_to: str = "",
    tags: Mapping[str, str] | None = None,
    account: str = ACCOUNT,
    region: str = REGION,
    iops: int | None = None,
    throughput_mibps: int | None = None,
) -> Volume:
    return Volume(
        resource_id=resource_id,
        account=account,
        region=region,
        zone=f"{region}a",
        volume_type=volume_type,
        size_gib=size_gib,
        state=state,
        created_at=_instant(created),
        iops=iops,
        throughput_mibps=throughput_mibps,
        attached_to=attached_to,
        tags=dict(tags or {}),
    )


def make_observation(
    *instances: Instance,
    observed: str | datetime = NOW,
    volumes: Iterable[Volume] = (),
    scanned: Iterable[tuple[str, str]] = ((ACCOUNT, REGION),),
    failed: Iterable[tuple[str, str]] = (),
) -> FleetObservation:
    """Make what one poll saw; `failed` scopes are named as denied."""
    return FleetObservation(
        observed_at=_instant(observed),
        instances=instances,
        volumes=tuple(volumes),
        scanned=tuple(sorted(scanned)),
        failures=tuple(
            ScopeFailure(
                source="inventory",
                account=account,
                region=region,
                code="AccessDenied",
                message="not allowed to describe instances",
            )
            for account, region in failed
        ),
    )


def make_interval(
    *,
    resource_id: str = "i-1",
    start: str | datetime = "2026-11-30T00:00Z",
    end: str | datetime | None = None,
    shape: str = "p5.48xlarge",
    kind: ResourceKind = ResourceKind.INSTANCE,
    lifecycle: Lifecycle = Lifecycle.ON_DEMAND,
    account: str = ACCOUNT,
    region: str = REGION,
    zone: str | None = None,
    end_basis: EndBasis | None = None,
    ended_by: str | datetime | None = None,
    last_seen: str | datetime | None = None,
    is_reclaimed: bool | None = None,
    platform: str = "Linux/UNIX",
    tenancy: str = "default",
    size_gib: int = 0,
    iops: int | None = None,
    throughput_mibps: int | None = None,
    parent_id: str = "",
) -> UsageInterval:
    """Make an interval: open without `end`, else with an exact end."""
    started_at = _instant(start)
    ended_at = None if end is None else _instant(end)
    basis = end_basis or (EndBasis.OPEN if ended_at is None else EndBasis.EXACT)
    return UsageInterval(
        resource_id=resource_id,
        kind=kind,
        account=account,
        region=region,
        zone=f"{region}a" if zone is None else zone,
        shape=shape,
        lifecycle=lifecycle,
        started_at=started_at,
        ended_at=ended_at,
        end_basis=basis,
        last_seen_at=_instant(last_seen) if last_seen else ended_at or started_at,
        ended_by=None if ended_by is None else _instant(ended_by),
        is_reclaimed=is_reclaimed,
        platform=platform,
        tenancy=tenancy,
        size_gib=size_gib,
        iops=iops,
        throughput_mibps=throughput_mibps,
        parent_id=parent_id,
    )


def make_volume_interval(
    *,
    resource_id: str = "vol-1",
    start: str | datetime = "2026-11-30T00:00Z",
    end: str | datetime | None = None,
    shape: str = "gp3",
    size_gib: int = 100,
    parent_id: str = "",
) -> UsageInterval:
    return replace(
        make_interval(
            resource_id=resource_id,
            start=start,
            end=end,
            shape=shape,
            kind=ResourceKind.VOLUME,
            parent_id=parent_id,
        ),
        size_gib=size_gib,
    )


def make_tag_span(
    *,
    resource_id: str = "i-1",
    key: str = "job-id",
    value: str = "job-123",
    start: str | datetime = "2026-11-01T00:00Z",
    end: str | datetime | None = None,
) -> TagSpan:
    return TagSpan(
        resource_id=resource_id,
        key=key,
        value=value,
        valid_from=_instant(start),
        valid_to=None if end is None else _instant(end),
    )


def make_key(
    product: str = "p5.48xlarge",
    *,
    region: str = REGION,
    purchase: Purchase = Purchase.ON_DEMAND,
    platform: str = "Linux/UNIX",
    tenancy: str = "default",
    zone: str = "",
) -> PriceKey:
    return PriceKey(
        region=region,
        product=product,
        purchase=purchase,
        platform=platform,
        tenancy=tenancy,
        zone=zone,
    )


def make_price(
    rate: str = "55.04",
    *,
    product: str = "p5.48xlarge",
    key: PriceKey | None = None,
    currency: str = "USD",
    source: str = "price list",
    as_of: str | datetime = "2026-11-01T00:00Z",
    effective_from: str | datetime | None = None,
) -> Price:
    """Make an on-demand price of a product, or of any `key`."""
    return Price(
        key=key or make_key(product),
        rate=Rate.of(rate, currency),
        source=source,
        as_of=_instant(as_of),
        effective_from=None if effective_from is None else _instant(effective_from),
    )


def make_spot_price(
    rate: str,
    *,
    since: str | datetime,
    product: str = "p5.48xlarge",
    zone: str = ZONE,
) -> Price:
    return make_price(
        rate,
        key=make_key(product, purchase=Purchase.SPOT, zone=zone),
        source="spot price history",
        as_of=since,
        effective_from=since,
    )


def _instant(value: str | datetime) -> datetime:
    return at(value) if isinstance(value, str) else value
