"""DescribeInstances, written straight from moto's instances.

It must not know HTTP. moto's own serializer takes milliseconds for each instance, which
a fleet of thousands cannot wait for; this one takes microseconds.
"""

# ruff: noqa: ANN401  # values of untyped wire data

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any
from xml.sax.saxutils import escape

from moto.core.exceptions import ServiceException
from moto.ec2.models import ec2_backends

from deploy.sandbox.aws.errors import AwsError, Reply
from deploy.sandbox.aws.own import Call
from deploy.sandbox.aws.pages import PageRules

NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"
LOW, HIGH = 5, 1000
TYPE_FILTER = "instance-type"
PAGES = PageRules(
    field="NextToken",
    unknown_code="InvalidParameterValue",
    unknown_text="Unable to parse pagination token",
    changed_code="InvalidParameterValue",
    free=("MaxResults",),
)


def describe(call: Call) -> Reply:
    """Answer DescribeInstances, one page of it."""
    params = call.params
    if params.get("DryRun"):
        message = "Request would have succeeded, but DryRun flag is set."
        raise AwsError("DryRunOperation", message, status=412)
    size = params.get("MaxResults")
    check_size(size, LOW, HIGH)
    ids = params.get("InstanceIds") or []
    if size is not None and ids:
        message = (
            "The parameter instancesSet cannot be used with the parameter maxResults"
        )
        raise AwsError("InvalidParameterCombination", message)
    found = _reservations(call, ids)
    page, token = call.pages.cut(found, params, rules=PAGES, size=int(size or HIGH))
    next_token = f"<nextToken>{token}</nextToken>" if token else ""
    items = "".join(_reservation(item) for item in page)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<DescribeInstancesResponse xmlns="{NAMESPACE}">'
        "<requestId>00000000-0000-4000-8000-000000000000</requestId>"
        f"<reservationSet>{items}</reservationSet>{next_token}"
        "</DescribeInstancesResponse>"
    )
    headers = {"Content-Type": "text/xml;charset=UTF-8"}
    return Reply(headers=headers, body=text.encode())


def check_size(size: int | None, low: int, high: int) -> None:
    """Refuse a MaxResults outside an operation's limits."""
    if size is not None and not low <= int(size) <= high:
        message = (
            f"Value ( {size} ) for parameter maxResults is invalid. "
            f"Expecting a value between {low} and {high}."
        )
        raise AwsError("InvalidParameterValue", message)


def _reservations(call: Call, ids: list[str]) -> list[Any]:
    backend = ec2_backends[call.account][call.region]
    filters = {
        item["Name"]: item["Values"] for item in call.params.get("Filters") or []
    }
    if TYPE_FILTER in filters:
        filters[TYPE_FILTER] = _matching_types(backend, filters[TYPE_FILTER])
    try:
        if ids:
            found = backend.get_reservations_by_instance_ids(ids, filters=filters)
        else:
            found = backend.describe_instances(filters=filters)
    except ServiceException as error:
        raise AwsError(str(error.code), str(error.message)) from error
    except NotImplementedError as error:
        message = f"the sandbox does not implement the filter: {error}"
        raise AwsError("NotImplementedInSandbox", message, status=501) from error
    return list(found)


def _matching_types(backend: Any, patterns: list[str]) -> list[str]:
    """Return the types in use that match; EC2 takes `*` and `?`, moto does not."""
    used = {
        instance.instance_type
        for reservation in backend.describe_instances()
        for instance in reservation.instances
    }
    return [
        name for name in sorted(used) if any(fnmatchcase(name, one) for one in patterns)
    ]


def _reservation(item: Any) -> str:
    instances = "".join(_instance(instance) for instance in item.instances)
    return (
        f"<item><reservationId>{item.id}</reservationId>"
        f"<ownerId>{item.owner_id}</ownerId><groupSet/>"
        f"<instancesSet>{instances}</instancesSet></item>"
    )


def _instance(item: Any) -> str:
    return "".join(
        [
            "<item>",
            _tag("instanceId", item.id),
            _tag("imageId", item.image_id),
            f"<instanceState><code>{item.state_code}</code>",
            f"<name>{item.state}</name></instanceState>",
            _tag("privateDnsName", item.private_dns_name),
            _tag("reason", item.state_transition_reason),
            _tag("keyName", item.key_name),
            _tag("amiLaunchIndex", item.ami_launch_index),
            _tag("instanceType", item.instance_type),
            _tag("launchTime", f"{item.launch_time:%Y-%m-%dT%H:%M:%S}.000Z"),
            _placement(item.placement),
            f"<monitoring><state>{item.monitoring_state}</state></monitoring>",
            _tag("subnetId", item.subnet_id),
            _tag("vpcId", item.vpc_id),
            _tag("privateIpAddress", item.private_ip),
            _state_reason(item.state_reason),
            _tag("architecture", item.architecture),
            _tag("rootDeviceType", item.root_device_type),
            _tag("rootDeviceName", item.root_device_name),
            _devices(item),
            _tag("instanceLifecycle", item.lifecycle),
            _tag("clientToken", item.client_token),
            _tags(item),
            _tag("hypervisor", item.hypervisor),
            _tag("ebsOptimized", str(bool(item.ebs_optimized)).lower()),
            _tag("platformDetails", "Linux/UNIX"),
            _tag("usageOperation", "RunInstances"),
            _tag("capacityReservationId", _reservation_id(item)),
            "</item>",
        ]
    )


def _tag(name: str, value: object) -> str:
    return "" if value is None else f"<{name}>{escape(str(value))}</{name}>"


def _reservation_id(item: Any) -> str | None:
    found: str | None = getattr(item, "capacity_reservation_id", None)
    return found


def _placement(placement: Any) -> str:
    return (
        f"<placement><availabilityZone>{placement.zone}</availabilityZone>"
        f"<groupName/><tenancy>{placement.tenancy}</tenancy></placement>"
    )


def _state_reason(reason: Any) -> str:
    if not reason.code:
        return ""
    return (
        f"<stateReason>{_tag('code', reason.code)}{_tag('message', reason.message)}"
        "</stateReason>"
    )


def _devices(item: Any) -> str:
    shown = "".join(
        f"<item><deviceName>{escape(name)}</deviceName><ebs>"
        f"{_tag('volumeId', device.volume_id)}<status>attached</status>"
        f"<deleteOnTermination>{str(bool(device.delete_on_termination)).lower()}"
        "</deleteOnTermination></ebs></item>"
        for name, device in item.get_block_device_mapping
    )
    return f"<blockDeviceMapping>{shown}</blockDeviceMapping>"


def _tags(item: Any) -> str:
    shown = "".join(
        f"<item>{_tag('key', tag['key'])}{_tag('value', tag['value'])}</item>"
        for tag in item.get_tags()
    )
    return f"<tagSet>{shown}</tagSet>" if shown else ""
