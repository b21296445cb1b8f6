"""Which accelerator instances and volumes exist, across accounts and regions.

The server filters: instance types of accelerator families, and anything that carries
a job tag. Must not know prices, intervals or what anybody does with the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from billing.aws.calls import Call, Place, pages, whole
from billing.aws.ec2_answers import instance_from, volume_from
from billing.aws.scopes import Scope, read_scopes
from billing.aws.session import AwsClients
from billing.core.charges import Source
from billing.core.fleet import FleetObservation, Instance, Volume

SOURCE = Source.INVENTORY.value

#: `instance-type` patterns of every family with accelerators.
ACCELERATOR_TYPES = ("p*.*", "g*.*", "trn*.*", "inf*.*", "dl*.*", "vt*.*")

PAGE_SIZE = 1_000
VOLUME_PAGE_SIZE = 500
#: EC2 takes at most this many values in one filter.
FILTER_VALUES_MAX = 200

INSTANCES = Call(
    source=SOURCE,
    method="describe_instances",
    permission="ec2:DescribeInstances",
    required=("Reservations",),
    page_in="NextToken",
    page_out="NextToken",
)
VOLUMES = Call(
    source=SOURCE,
    method="describe_volumes",
    permission="ec2:DescribeVolumes",
    required=("Volumes",),
    page_in="NextToken",
    page_out="NextToken",
)
TAGS = Call(
    source=SOURCE,
    method="describe_tags",
    permission="ec2:DescribeTags",
    required=("Tags",),
    page_in="NextToken",
    page_out="NextToken",
)
PERMISSIONS = (INSTANCES.permission, VOLUMES.permission, TAGS.permission)

Filters = list[dict[str, Any]]
Found = tuple[tuple[Instance, ...], tuple[Volume, ...]]


class Ec2FleetSource:
    """Reads instances and volumes of every configured scope at once.

    Args:
        scopes: ``(account, region)`` pairs to read.
        job_tag_keys: Tag keys that make any instance or volume interesting.
    """

    def __init__(
        self,
        clients: AwsClients,
        scopes: Sequence[Scope],
        *,
        job_tag_keys: Sequence[str] = (),
    ) -> None:
        self._clients = clients
        self._scopes = tuple(scopes)
        self._keys = tuple(job_tag_keys)

    def observe(self, now: datetime) -> FleetObservation:
        """Read every configured scope; a failing one is named, never dropped."""
        found, failures = read_scopes(SOURCE, self._scopes, self._read)
        instances = [one for _, (some, _) in found for one in some]
        volumes = [one for _, (_, some) in found for one in some]
        return FleetObservation(
            observed_at=now,
            instances=tuple(sorted(instances, key=lambda one: one.resource_id)),
            volumes=tuple(sorted(volumes, key=lambda one: one.resource_id)),
            scanned=tuple(scope for scope, _ in found),
            failures=tuple(failures),
        )

    def describe(
        self, wanted: Mapping[Scope, Sequence[str]], now: datetime
    ) -> FleetObservation:
        """Look at some instances that events told of, by account and region.

        Those that this inventory is not about, or that EC2 has forgotten, are absent.
        """
        found, failures = read_scopes(
            SOURCE, wanted, lambda *scope: self._describe(scope, wanted[scope])
        )
        instances = [one for _, some in found for one in some]
        return FleetObservation(
            observed_at=now,
            instances=tuple(sorted(instances, key=lambda one: one.resource_id)),
            volumes=(),
            scanned=(),
            failures=tuple(failures),
        )

    def _describe(self, scope: Scope, ids: Sequence[str]) -> list[Instance]:
        account, region = scope
        place = Place(account=account, region=region)
        client = self._clients.client("ec2", account=account, region=region)
        found: dict[str, Instance] = {}
        for only in _any_of("instance-id", ids):
            for filters in self._instance_filters():
                for one in _instances(client, [*filters, *only], place):
                    found[one.resource_id] = one
        return list(found.values())

    def _read(self, account: str, region: str) -> Found:
        place = Place(account=account, region=region)
        client = self._clients.client("ec2", account=account, region=region)
        instances = {
            one.resource_id: one
            for one in _instances(client, next(self._instance_filters()), place)
        }
        tagged = self._tagged(client, "instance", place) - instances.keys()
        for only in _any_of("instance-id", tagged):
            for one in _instances(client, only, place):
                instances[one.resource_id] = one
        volumes: dict[str, Volume] = {}
        for only in _any_of("attachment.instance-id", instances):
            for found in _volumes(client, only, place):
                volumes[found.resource_id] = found
        tagged = self._tagged(client, "volume", place) - volumes.keys()
        for only in _any_of("volume-id", tagged):
            for found in _volumes(client, only, place):
                volumes[found.resource_id] = found
        return tuple(instances.values()), tuple(volumes.values())

    def _tagged(self, client: Any, kind: str, place: Place) -> set[str]:
        """Return the ids of a kind of resource that carry a job tag.

        Most are known by then, and a tag is read fifty times faster than an instance.
        """
        if not self._keys:
            return set()
        asked = {
            "Filters": [
                {"Name": "resource-type", "Values": [kind]},
                {"Name": "key", "Values": list(self._keys)},
            ],
            "MaxResults": PAGE_SIZE,
        }
        ids: set[str] = set()
        for page in pages(client, TAGS, asked, place=place):
            with whole(TAGS, place):
                ids.update(tag["ResourceId"] for tag in page["Tags"])
        return ids

    def _instance_filters(self) -> Iterator[Filters]:
        yield [{"Name": "instance-type", "Values": list(ACCELERATOR_TYPES)}]
        if self._keys:
            yield [{"Name": "tag-key", "Values": list(self._keys)}]


def _any_of(name: str, ids: Iterable[str]) -> Iterator[Filters]:
    """Yield filters for ids, as many in each as EC2 takes."""
    wanted = sorted(ids)
    for start in range(0, len(wanted), FILTER_VALUES_MAX):
        yield [{"Name": name, "Values": wanted[start : start + FILTER_VALUES_MAX]}]


def _instances(client: Any, filters: Filters, place: Place) -> Iterator[Instance]:
    asked = {"Filters": filters, "MaxResults": PAGE_SIZE}
    for page in pages(client, INSTANCES, asked, place=place):
        with whole(INSTANCES, place):
            found = [
                instance_from(raw, place.account, place.region)
                for reservation in page["Reservations"]
                for raw in reservation.get("Instances", ())
            ]
        yield from found


def _volumes(client: Any, filters: Filters, place: Place) -> Iterator[Volume]:
    asked = {"Filters": filters, "MaxResults": VOLUME_PAGE_SIZE}
    for page in pages(client, VOLUMES, asked, place=place):
        with whole(VOLUMES, place):
            found = [
                volume_from(raw, place.account, place.region) for raw in page["Volumes"]
            ]
        yield from found
