"""Turn the instances and volumes that EC2 describes into facts.

Pure: no calls. Must not know accounts beyond the one it is told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from billing.core.fleet import Instance, InstanceState, Lifecycle, Volume
from billing.core.periods import utc

#: "User initiated (2026-03-01 10:05:00 GMT)"
_REASON_TIME = re.compile(r"\s*\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:GMT|UTC)\)")
#: EC2 names these in StateReason when it takes spot capacity back.
_RECLAIMED = ("Server.SpotInstanceTermination", "Server.SpotInstanceShutdown")
_BY_HAND = "Client."
_LIFECYCLES = {one.value: one for one in Lifecycle}
_USER_INITIATED = "User initiated"


def instance_from(raw: Mapping[str, Any], account: str, region: str) -> Instance:
    """Read one instance; a member that EC2 always sends must be there (KeyError)."""
    reason = str(raw.get("StateTransitionReason") or "")
    placement = raw.get("Placement", {})
    return Instance(
        resource_id=raw["InstanceId"],
        account=account,
        region=region,
        zone=placement.get("AvailabilityZone", ""),
        instance_type=raw["InstanceType"],
        lifecycle=_LIFECYCLES.get(
            raw.get("InstanceLifecycle", ""), Lifecycle.ON_DEMAND
        ),
        state=InstanceState(raw["State"]["Name"]),
        launched_at=utc(raw["LaunchTime"]),
        transitioned_at=transition_time(reason),
        transition_reason=_REASON_TIME.sub("", reason),
        is_reclaimed=reclaimed(str(raw.get("StateReason", {}).get("Code", "")), reason),
        platform=raw.get("PlatformDetails") or "Linux/UNIX",
        tenancy=placement.get("Tenancy") or "default",
        private_ip=raw.get("PrivateIpAddress", ""),
        capacity_reservation_id=raw.get("CapacityReservationId", ""),
        tags=_tags(raw),
    )


def volume_from(raw: Mapping[str, Any], account: str, region: str) -> Volume:
    """Read one volume; a member that EC2 always sends must be there (KeyError)."""
    attachments = raw.get("Attachments", ())
    attached = [one["InstanceId"] for one in attachments if one.get("InstanceId")]
    return Volume(
        resource_id=raw["VolumeId"],
        account=account,
        region=region,
        zone=raw.get("AvailabilityZone", ""),
        volume_type=raw["VolumeType"],
        size_gib=int(raw["Size"]),
        state=raw["State"],
        created_at=utc(raw["CreateTime"]),
        iops=raw.get("Iops"),
        throughput_mibps=raw.get("Throughput"),
        attached_to=attached[0] if attached else "",
        tags=_tags(raw),
    )


def transition_time(reason: str) -> datetime | None:
    """Return the instant that a StateTransitionReason names; None when it names none.

    >>> str(transition_time("User initiated (2026-03-01 10:05:00 GMT)"))
    '2026-03-01 10:05:00+00:00'
    """
    found = _REASON_TIME.search(reason)
    return datetime.fromisoformat(found[1]).replace(tzinfo=UTC) if found else None


def reclaimed(code: str, reason: str) -> bool | None:
    """Tell whether AWS took spot capacity back; None when neither text says who did.

    >>> reclaimed("Server.SpotInstanceTermination", "Service initiated")
    True
    """
    if code.startswith(_RECLAIMED) or reason.startswith(_RECLAIMED):
        return True
    if code.startswith(_BY_HAND) or reason.startswith(_USER_INITIATED):
        return False
    return None


def _tags(raw: Mapping[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag.get("Value", "") for tag in raw.get("Tags", ())}
