"""Read one EventBridge event: what kind it is, whom it concerns, when AWS says it was.

Shapes: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ (monitoring-instance-
state-changes, spot-instance-termination-notices, rebalance-recommendations,
monitor-interruptible-cr, capacity-blocks-monitor),
https://docs.aws.amazon.com/tag-editor/latest/userguide/tag-monitor.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/automating-sagemaker-with-eventbridge.html
(read 2026-11). A body is a stranger's text: it is never repeated in an error. Pure;
knows no queue.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from billing.core.errors import GpucostError
from billing.core.fleet_events import FleetEvent, FleetState, TagEvent

#: EC2 takes a spot instance back this long after its warning; hibernation begins at once.
NOTICE = timedelta(minutes=2)
TEXT_MAX = 300
_ACCOUNT = re.compile(r"[0-9]{12}")
_INSTANCE = re.compile(r"i-[0-9a-z]{1,40}")
_HIBERNATE = "hibernate"


class EventKind(StrEnum):
    """What an event is about."""

    STATE = "instance state"
    INTERRUPTION = "interruption warning"
    REBALANCE = "rebalance recommendation"
    TAGS = "tag change"
    CAPACITY = "capacity reservation"
    TRAINING = "training job"
    CLUSTER = "hyperpod cluster"
    OTHER = "other"


_KINDS = {
    "EC2 Instance State-change Notification": EventKind.STATE,
    "EC2 Spot Instance Interruption Warning": EventKind.INTERRUPTION,
    "EC2 Interruptible Capacity Reservation Instance Interruption Warning": (
        EventKind.INTERRUPTION
    ),
    "EC2 Instance Rebalance Recommendation": EventKind.REBALANCE,
    "Tag Change on Resource": EventKind.TAGS,
    "Capacity Block Reservation Delivered": EventKind.CAPACITY,
    "Capacity Block Reservation Expiration Warning": EventKind.CAPACITY,
    "SageMaker Training Job State Change": EventKind.TRAINING,
    "SageMaker HyperPod Cluster State Change": EventKind.CLUSTER,
    "SageMaker HyperPod Cluster Node Health Event": EventKind.CLUSTER,
    "SageMaker HyperPod Cluster Event": EventKind.CLUSTER,
}
_STATES = {
    one.value: one for one in FleetState if one is not FleetState.INTERRUPTION_WARNING
}


class UnreadableEventError(GpucostError, ValueError):
    """A message of the queue is no event that can be read."""

    code = "unreadable_event"

    def __init__(self, why: str) -> None:
        super().__init__(f"no readable event: {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardEvent:
    """One event, read.

    Attributes:
        event_id: AWS's id of the event; the same event delivered twice has it twice.
        at: When AWS says it happened, not when it arrived.
        resource_id: Instance or volume id, reservation id, job or cluster name; "" when
            the event names none.
        state: The state, action or status that it tells; "" when none.
        until: When what it warns of happens; None when it does not say.
        fact: What it teaches about an instance or its tags; None when nothing.
    """

    event_id: str
    kind: EventKind
    account: str
    region: str
    at: datetime
    resource_id: str = ""
    state: str = ""
    until: datetime | None = None
    fact: FleetEvent | TagEvent | None = None


@dataclass(frozen=True, slots=True)
class _Envelope:
    """What every event has around its detail."""

    event_id: str
    kind: EventKind
    account: str
    region: str
    at: datetime
    resources: tuple[str, ...]
    name: str


def kind_of(detail_type: str) -> EventKind:
    """Return the kind of an event by its ``detail-type``."""
    return _KINDS.get(detail_type, EventKind.OTHER)


def read_event(body: str) -> HeardEvent:
    """Read one event as EventBridge puts it on a queue.

    Raises:
        UnreadableEventError: It is no event, or one without what its kind always has.
    """
    document = _object(body)
    envelope = _envelope(document)
    detail = document.get("detail")
    if not isinstance(detail, dict):
        raise UnreadableEventError(_lacking("detail"))
    return _READERS[envelope.kind](envelope, detail)


def _object(body: str) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        why = "it is not JSON"
        raise UnreadableEventError(why) from error
    if not isinstance(found, dict):
        why = "it is no JSON object"
        raise UnreadableEventError(why)
    return found


def _envelope(document: Mapping[str, Any]) -> _Envelope:
    # The guide on capacity blocks spells two names in its own way.
    name = document.get("detail-type") or document.get("detail_type")
    event_id = document.get("id") or document.get("customer_event_id")
    account = _text(document.get("account"), "account")
    if _ACCOUNT.fullmatch(account) is None:
        why = "its account is not 12 digits"
        raise UnreadableEventError(why)
    resources = document.get("resources")
    listed = [resources] if isinstance(resources, str) else resources
    kind_name = _text(name, "detail-type")
    return _Envelope(
        event_id=_text(event_id, "id"),
        kind=kind_of(kind_name),
        account=account,
        region=_cut(document.get("region")),
        at=_instant(document.get("time"), "time"),
        resources=tuple(_cut(one) for one in listed or () if isinstance(one, str)),
        name=kind_name,
    )


def _state(envelope: _Envelope, detail: Mapping[str, Any]) -> HeardEvent:
    instance = _instance(detail)
    name = _text(detail.get("state"), "detail.state")
    state = _STATES.get(name)
    if state is None:
        why = "its state is none of EC2's"
        raise UnreadableEventError(why)
    fact = _fleet_event(envelope, instance, state)
    return _heard(envelope, resource_id=instance, state=name, fact=fact)


def _interruption(envelope: _Envelope, detail: Mapping[str, Any]) -> HeardEvent:
    instance = _instance(detail)
    action = _text(detail.get("instance-action"), "detail.instance-action")
    ends = detail.get("instance-termination-time")
    if ends is not None:
        until = _instant(ends, "detail.instance-termination-time")
    else:
        until = envelope.at + (NOTICE if action != _HIBERNATE else timedelta(0))
    fact = _fleet_event(envelope, instance, FleetState.INTERRUPTION_WARNING)
    return _heard(envelope, resource_id=instance, state=action, until=until, fact=fact)


def _rebalance(envelope: _Envelope, detail: Mapping[str, Any]) -> HeardEvent:
    return _heard(envelope, resource_id=_instance(detail), state="rebalance")


def _tags(envelope: _Envelope, detail: Mapping[str, Any]) -> HeardEvent:
    resource = _last(envelope.resources[0]) if envelope.resources else ""
    changed, tags = detail.get("changed-tag-keys"), detail.get("tags", {})
    if not isinstance(changed, list) or not isinstance(tags, dict):
        raise UnreadableEventError(_lacking("detail.changed-tag-keys"))
    if not all(isinstance(one, str) for one in (*changed, *tags.values())):
        why = "its tags are no texts"
        raise UnreadableEventError(why)
    is_ec2 = detail.get("service") == "ec2"
    fact = TagEvent(
        resource_id=resource, account=envelope.account, region=envelope.region,
        at=envelope.at, tags=dict(tags), changed=frozenset(changed),
    )  # fmt: skip
    return _heard(
        envelope, resource_id=resource, fact=fact if is_ec2 and resource else None
    )


def _capacity(envelope: _Envelope, detail: Mapping[str, Any]) -> HeardEvent:
    ends = detail.get("end-date")
    return _heard(
        envelope,
        resource_id=_text(detail.get("capacity-reservation-id"), "detail"),
        state="delivered" if envelope.name.endswith("Delivered") else "expiring",
        until=None if ends is None else _instant(ends, "detail.end-date"),
    )


def _training(envelope: _Envelope, detail: Mapping[str, Any]) -> HeardEvent:
    return _heard(
        envelope,
        resource_id=_text(detail.get("TrainingJobName"), "detail.TrainingJobName"),
        state=_text(detail.get("TrainingJobStatus"), "detail.TrainingJobStatus"),
    )


def _cluster(envelope: _Envelope, detail: Mapping[str, Any]) -> HeardEvent:
    """Read one of three events: of a cluster, of a node's health, of anything in it."""
    inner = detail.get("EventDetails")
    found = inner if isinstance(inner, dict) else detail
    health = found.get("HealthSummary")
    status = health.get("HealthStatus") if isinstance(health, dict) else None
    state = found.get("ClusterStatus") or status or found.get("EventLevel")
    return _heard(
        envelope,
        resource_id=_text(found.get("ClusterName"), "detail.ClusterName"),
        state=_cut(state),
    )


def _other(envelope: _Envelope, detail: Mapping[str, Any]) -> HeardEvent:
    del detail
    return _heard(envelope, state=envelope.name)


_READERS = {
    EventKind.STATE: _state,
    EventKind.INTERRUPTION: _interruption,
    EventKind.REBALANCE: _rebalance,
    EventKind.TAGS: _tags,
    EventKind.CAPACITY: _capacity,
    EventKind.TRAINING: _training,
    EventKind.CLUSTER: _cluster,
    EventKind.OTHER: _other,
}


def _heard(
    envelope: _Envelope,
    *,
    resource_id: str = "",
    state: str = "",
    until: datetime | None = None,
    fact: FleetEvent | TagEvent | None = None,
) -> HeardEvent:
    return HeardEvent(
        event_id=envelope.event_id,
        kind=envelope.kind,
        account=envelope.account,
        region=envelope.region,
        at=envelope.at,
        resource_id=resource_id,
        state=state,
        until=until,
        fact=fact,
    )


def _fleet_event(envelope: _Envelope, instance: str, state: FleetState) -> FleetEvent:
    return FleetEvent(
        resource_id=instance,
        account=envelope.account,
        region=envelope.region,
        state=state,
        at=envelope.at,
    )


def _instance(detail: Mapping[str, Any]) -> str:
    found = _text(detail.get("instance-id"), "detail.instance-id")
    if _INSTANCE.fullmatch(found) is None:
        why = "its instance id is none"
        raise UnreadableEventError(why)
    return found


def _instant(value: object, name: str) -> datetime:
    try:
        found = datetime.fromisoformat(_text(value, name))
    except ValueError as error:
        if isinstance(error, UnreadableEventError):
            raise
        why = f"its {name} is no time"
        raise UnreadableEventError(why) from error
    # AWS writes UTC, and in some guides leaves the zone out.
    return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)


def _text(value: object, name: str) -> str:
    found = _cut(value)
    if not found:
        raise UnreadableEventError(_lacking(name))
    return found


def _cut(value: object) -> str:
    return value.strip()[:TEXT_MAX] if isinstance(value, str) else ""


def _last(arn: str) -> str:
    """Return the id at the end of an ARN."""
    return arn.rpartition("/")[2]


def _lacking(name: str) -> str:
    return f"it has no {name}"
