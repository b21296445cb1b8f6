"""What one look at a resource says as an interval that runs, and when its shape differs.

Pure; ``billing.core.advance`` compares it with what is known.
"""

from __future__ import annotations

from datetime import datetime

from billing.core.fleet import Instance, Lifecycle, Volume
from billing.core.resources import Resource
from billing.core.usage import EndBasis, ResourceKind, UsageInterval


def instance_interval(instance: Instance, seen_at: datetime) -> UsageInterval:
    """Return the running interval of an instance since its launch."""
    return UsageInterval(
        resource_id=instance.resource_id,
        kind=ResourceKind.INSTANCE,
        account=instance.account,
        region=instance.region,
        zone=instance.zone,
        shape=instance.instance_type,
        lifecycle=instance.lifecycle,
        started_at=instance.launched_at,
        ended_at=None,
        end_basis=EndBasis.OPEN,
        last_seen_at=max(seen_at, instance.launched_at),
        platform=instance.platform,
        tenancy=instance.tenancy,
        reservation_id=instance.capacity_reservation_id,
    )


def volume_interval(volume: Volume, seen_at: datetime) -> UsageInterval:
    """Return the interval of a volume since it was made."""
    return UsageInterval(
        resource_id=volume.resource_id,
        kind=ResourceKind.VOLUME,
        account=volume.account,
        region=volume.region,
        zone=volume.zone,
        shape=volume.volume_type,
        lifecycle=Lifecycle.ON_DEMAND,
        started_at=volume.created_at,
        ended_at=None,
        end_basis=EndBasis.OPEN,
        last_seen_at=max(seen_at, volume.created_at),
        size_gib=volume.size_gib,
        iops=volume.iops,
        throughput_mibps=volume.throughput_mibps,
        parent_id=volume.attached_to,
    )


def resource_interval(resource: Resource, seen_at: datetime) -> UsageInterval:
    """Return the interval of any other resource since it began to cost."""
    return UsageInterval(
        resource_id=resource.resource_id,
        kind=resource.kind,
        account=resource.account,
        region=resource.region,
        zone=resource.zone,
        shape=resource.shape,
        lifecycle=resource.lifecycle,
        started_at=resource.started_at,
        ended_at=None,
        end_basis=EndBasis.OPEN,
        last_seen_at=max(seen_at, resource.started_at),
        platform=resource.platform,
        tenancy=resource.tenancy,
        size_gib=resource.size_gib,
        throughput_mibps=resource.throughput_mibps,
        parent_id=resource.parent_id,
        units=resource.units,
        billed_s=resource.billed_s,
        reservation_id=resource.reservation_id,
    )


def shape_of(interval: UsageInterval) -> tuple[object, ...]:
    """Return everything whose change begins another interval."""
    return (
        interval.shape,
        interval.size_gib,
        interval.iops,
        interval.throughput_mibps,
        interval.parent_id,
        interval.units,
    )
