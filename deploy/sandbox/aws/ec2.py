"""EC2 where moto alone is not real enough.

It must not know HTTP. moto keeps the instances; this module gives them EC2's own
times, reasons and lifecycles, pages the long lists, forgets terminated instances
after an hour, and answers spot prices and capacity reservations from the world.
"""

# ruff: noqa: ANN401  # values of untyped wire data

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode
from xml.etree import ElementTree as ET

from moto.ec2.models import ec2_backends

from deploy.sandbox.aws.ec2_instances import PAGES, check_size
from deploy.sandbox.aws.errors import AwsError, Reply
from deploy.sandbox.aws.model import problems, validation_text
from deploy.sandbox.aws.own import Call
from deploy.sandbox.aws.pages import Pages
from deploy.sandbox.aws.wire import Incoming, Raw
from deploy.sandbox.aws.world import CapacityReservationSeed, SpotSeed

VISIBLE_AFTER_END = timedelta(hours=1)
#: Operation -> (the set that is paged, smallest and largest MaxResults)
PAGED = {
    "DescribeVolumes": ("volumeSet", 5, 1000),
    "DescribeSnapshots": ("snapshotSet", 5, 1000),
    "DescribeTags": ("tagSet", 5, 1000),
    "DescribeInstanceTypes": ("instanceTypeSet", 5, 100),
}
REASON = re.compile(r"\((\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}) (?:UTC|GMT)\)")
SPOT_PAGE = 1000
DEFAULT_PAGE = 1000


def reason(at: datetime, text: str = "User initiated") -> str:
    """Return a StateTransitionReason as EC2 writes it."""
    return f"{text} ({at:%Y-%m-%d %H:%M:%S} GMT)"


def own_answer(call: Call) -> dict[str, Any] | None:
    """Answer the operations that the world knows better than moto."""
    handlers = {
        "DescribeSpotPriceHistory": spot_price_history,
        "DescribeCapacityReservations": capacity_reservations,
    }
    handler = handlers.get(call.operation)
    if handler is None:
        return None
    found = problems("ec2", call.operation, _json_times(call.params))
    if found:
        raise AwsError("InvalidParameterValue", validation_text(found))
    return handler(call)


def spot_price_history(call: Call) -> dict[str, Any]:
    """Answer DescribeSpotPriceHistory, newest first."""
    params = call.params
    types = params.get("InstanceTypes") or []
    products = params.get("ProductDescriptions") or []
    tests = {f["Name"]: f["Values"] for f in params.get("Filters") or []}
    zone = params.get("AvailabilityZone")
    start, end = _at(params.get("StartTime")), _at(params.get("EndTime"))
    points = [
        point
        for point in call.world.spot
        if point.zone[:-1] == call.region
        and point.at <= min(end or call.now, call.now)
        and (not types or point.instance_type in types)
        and (zone is None or point.zone == zone)
        and (not products or point.product in _plain(products))
        and _spot_filters(point, tests)
    ]
    points = _since(points, start)
    points.sort(key=lambda p: (p.at, p.zone, p.instance_type), reverse=True)
    size = params.get("MaxResults", SPOT_PAGE)
    page, token = call.pages.cut(points, params, rules=PAGES, size=size)
    return {
        "NextToken": token or "",
        "SpotPriceHistory": [
            {
                "InstanceType": point.instance_type,
                "ProductDescription": point.product,
                "SpotPrice": point.price,
                "AvailabilityZone": point.zone,
                "Timestamp": point.at,
            }
            for point in page
        ],
    }


def _plain(products: list[str]) -> set[str]:
    return {name.replace(" (Amazon VPC)", "") for name in products} | set(products)


def _spot_filters(point: SpotSeed, tests: dict[str, list[str]]) -> bool:
    values = {
        "availability-zone": point.zone,
        "instance-type": point.instance_type,
        "product-description": point.product,
        "spot-price": point.price,
    }
    for name, wanted in tests.items():
        if name not in values:
            message = f"The filter '{name}' is invalid"
            raise AwsError("InvalidParameterValue", message)
        if values[name] not in wanted:
            return False
    return True


def _since(points: list[SpotSeed], start: datetime | None) -> list[SpotSeed]:
    """Return the points from `start` on, and the one in force at `start`."""
    if start is None:
        return points
    in_force: dict[tuple[str, str, str], SpotSeed] = {}
    for point in sorted(points, key=lambda p: p.at):
        if point.at <= start:
            in_force[point.zone, point.instance_type, point.product] = point
    return [p for p in points if p.at > start] + list(in_force.values())


def capacity_reservations(call: Call) -> dict[str, Any]:
    """Answer DescribeCapacityReservations, Capacity Blocks among them."""
    params = call.params
    wanted = params.get("CapacityReservationIds") or []
    known = [
        seed
        for seed in call.world.capacity_reservations
        if seed.account == call.account and seed.region == call.region
    ]
    missing = sorted(set(wanted) - {seed.id for seed in known})
    if missing:
        message = f"The capacity reservation '{missing[0]}' does not exist."
        raise AwsError("InvalidCapacityReservationId.NotFound", message)
    seeds = [seed for seed in known if not wanted or seed.id in wanted]
    size = params.get("MaxResults", DEFAULT_PAGE)
    page, token = call.pages.cut(seeds, params, rules=PAGES, size=size)
    result: dict[str, Any] = {
        "CapacityReservations": [_reservation(seed, call) for seed in page]
    }
    return result | ({"NextToken": token} if token else {})


def _reservation(seed: CapacityReservationSeed, call: Call) -> dict[str, Any]:
    ended = seed.ends_at is not None and seed.ends_at <= call.now
    shown: dict[str, Any] = {
        "CapacityReservationId": seed.id,
        "OwnerId": seed.account,
        "InstanceType": seed.instance_type,
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZone": seed.zone or f"{seed.region}a",
        "Tenancy": "default",
        "TotalInstanceCount": seed.count,
        "AvailableInstanceCount": seed.available,
        "State": "expired" if ended else _state(seed, call),
        "StartDate": seed.started_at,
        "CreateDate": seed.bought_at or seed.started_at,
        "EndDateType": "limited" if seed.ends_at else "unlimited",
        "ReservationType": seed.type,
        "Tags": [{"Key": k, "Value": v} for k, v in seed.tags.items()],
    }
    if seed.payer:
        shown["UnusedReservationBillingOwnerId"] = seed.payer
    return shown | ({"EndDate": seed.ends_at} if seed.ends_at else {})


def _state(seed: CapacityReservationSeed, call: Call) -> str:
    return "scheduled" if call.now < seed.started_at else seed.state


def paged_request(raw: Raw, incoming: Incoming) -> Raw:
    """Return the request that lets moto list everything, to be paged here."""
    rule = PAGED.get(incoming.operation)
    if rule is None:
        return raw
    check_size(incoming.params.get("MaxResults"), *rule[1:])
    form = [
        (key, value)
        for key, value in parse_qsl(raw.body.decode(), keep_blank_values=True)
        if key not in {"MaxResults", "NextToken"}
    ]
    return Raw(
        method=raw.method,
        target=raw.target,
        headers=raw.headers,
        body=urlencode(form).encode(),
        host=raw.host,
    )


def paged_reply(reply: Reply, incoming: Incoming, pages: Pages) -> Reply:
    """Return one page of moto's whole list."""
    rule = PAGED.get(incoming.operation)
    if rule is None or reply.status >= 400:  # noqa: PLR2004  # HTTP's own limit
        return reply
    name, _, high = rule
    size = int(incoming.params.get("MaxResults") or high)
    start = pages.offset(incoming.params, PAGES)
    root = ET.fromstring(reply.body)  # noqa: S314  # moto's own answer
    namespace = root.tag.removeprefix("{").partition("}")[0]
    container = root.find(f"{{{namespace}}}{name}")
    items = [] if container is None else list(container)
    if start == 0 and len(items) <= size:
        return reply
    for item in items[:start] + items[start + size :]:
        if container is not None:
            container.remove(item)
    for old in root.findall(f"{{{namespace}}}nextToken"):
        root.remove(old)
    if start + size < len(items):
        token = ET.SubElement(root, f"{{{namespace}}}nextToken")
        token.text = pages.issue(incoming.params, PAGES, start + size)
    ET.register_namespace("", namespace)
    body = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    headers = {k: v for k, v in reply.headers.items() if k.lower() != "content-length"}
    return Reply(status=reply.status, headers=headers, body=body)


def tidy(account: str, region: str, now: datetime) -> None:
    """Write reasons as EC2 does and forget what ended more than an hour ago."""
    backend = ec2_backends[account][region]
    for key, reservation in list(backend.reservations.items()):
        for instance in list(reservation.instances):
            instance._reason = instance._reason.replace(" UTC)", " GMT)")  # noqa: SLF001
            ended = _ended(instance)
            if ended is not None and ended + VISIBLE_AFTER_END <= now:
                reservation.instances.remove(instance)
        if not reservation.instances:
            del backend.reservations[key]


def after(incoming: Incoming, reply: Reply, *, account: str, now: datetime) -> bool:
    """Finish what moto leaves out of a change; return whether it changed anything."""
    backend = ec2_backends[account][incoming.region]
    if incoming.operation == "StartInstances":
        for instance in _instances(backend, incoming.params.get("InstanceIds") or []):
            instance.launch_time = now.replace(tzinfo=None)
        return True
    if incoming.operation != "RunInstances":
        return False
    ids = re.findall(r"<instanceId>(i-[0-9a-f]+)</instanceId>", reply.body.decode())
    market = (incoming.params.get("InstanceMarketOptions") or {}).get("MarketType")
    for instance in _instances(backend, ids):
        protected = incoming.params.get("DisableApiTermination")
        instance.disable_api_termination = bool(protected)
        if market == "capacity-block":
            instance.lifecycle = "capacity-block"
    return True


def _instances(backend: Any, ids: list[str]) -> Iterator[Any]:
    for reservation in backend.reservations.values():
        yield from (item for item in reservation.instances if item.id in ids)


def _ended(instance: Any) -> datetime | None:
    if instance.state != "terminated":
        return None
    match = REASON.search(instance._reason)  # noqa: SLF001  # moto has no other way
    return datetime.fromisoformat(f"{match.group(1)}+00:00") if match else None


def _at(value: Any) -> datetime | None:
    if value is None:
        return None
    at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _json_times(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with times as texts, as the model check wants them."""
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in params.items()
    }
