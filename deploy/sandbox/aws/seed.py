"""Put a world's accounts, instances, volumes and objects into moto.

It must not know HTTP, Cost Explorer or metrics. It writes moto's tables directly, so that ids
and times are the world's own.
"""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from moto.ec2.models import ec2_backends
from moto.organizations.models import organizations_backends
from moto.s3.models import FakeKey, s3_backends

from deploy.sandbox.aws.ec2 import reason
from deploy.sandbox.aws.world import (
    InstanceSeed,
    ObjectSeed,
    SnapshotSeed,
    VolumeSeed,
    World,
)

STATES = {"running": 16, "stopped": 80, "terminated": 48}
IMAGE = "ami-0123456789abcdef0"
DEVICES = "fghijklmnop"
PARTITION = "aws"


def seed(world: World) -> None:
    """Write the world into moto's empty tables."""
    _organisation(world)
    for item in world.instances:
        _instance(item)
    for volume in world.volumes:
        _volume(volume)
    for snapshot in world.snapshots:
        _snapshot(snapshot)
    for item_ in world.objects:
        _object(item_)


def naive(at: datetime) -> datetime:
    """Return an instant as moto keeps it."""
    return at.astimezone(UTC).replace(tzinfo=None)


def _organisation(world: World) -> None:
    # Moto's reset forgets organisations, but not who was a member of one.
    organizations_backends.master_accounts.clear()
    if not world.accounts:
        return
    backend = organizations_backends[world.caller_account][PARTITION]
    backend.create_organization(region="us-east-1", FeatureSet="ALL")
    for account in world.accounts:
        email = account.email or f"{account.id}@example.com"
        if account.id == world.caller_account:
            member = backend.accounts[0]
        else:
            backend.create_account(AccountName=account.name, Email=email)
            member = backend.accounts[-1]
            organizations_backends.master_accounts.pop(member.id, None)
            organizations_backends.master_accounts[account.id] = (
                world.caller_account,
                PARTITION,
            )
        member.id = account.id
        member.name = account.name
        member.email = email
        member.status = member.state = account.status


def _instance(item: InstanceSeed) -> None:
    backend = ec2_backends[item.account][item.region]
    options: dict[str, Any] = {
        "instance_type": item.instance_type,
        "is_instance_type_default": False,
        "placement": item.zone or f"{item.region}a",
        "region_name": item.region,
        "subnet_id": None,
        "security_group_ids": [],
        "nics": [],
        "private_ip": item.private_ip,
        "tags": {"instance": {}},
        "block_device_mappings": [],
        "instance_market_options": {},
    }
    reservation = backend.run_instances(IMAGE, 1, None, [], **options)
    instance = reservation.instances[0]
    instance.id = item.id
    instance.add_tags(dict(item.tags))
    instance.launch_time = naive(item.launched_at)
    instance.lifecycle = item.lifecycle
    instance.disable_api_termination = item.termination_protected
    if item.capacity_reservation_id:
        setattr(instance, "capacity_reservation_id", item.capacity_reservation_id)  # noqa: B010  # moto has no such field
    if item.state != "running":
        ended = item.ended_at or item.launched_at
        instance._state.name = item.state  # noqa: SLF001  # moto has no setter
        instance._state.code = STATES[item.state]  # noqa: SLF001
        instance._reason = reason(ended)  # noqa: SLF001


def _volume(item: VolumeSeed) -> None:
    backend = ec2_backends[item.account][item.region]
    iops = 3000 if item.volume_type in {"io1", "io2"} else None
    volume = backend.create_volume(
        size=item.size_gib,
        zone_name=item.zone or f"{item.region}a",
        volume_type=item.volume_type,
        iops=iops,
    )
    backend.volumes[item.id] = backend.volumes.pop(volume.id)
    volume.id = item.id
    volume.add_tags(dict(item.tags))
    volume.create_time = naive(item.created_at)
    if item.instance:
        taken = len(backend.get_instance(item.instance).block_device_mapping)
        attachment = backend.attach_volume(
            item.id, item.instance, f"/dev/sd{DEVICES[taken]}"
        )
        if attachment is not None:
            attachment.attach_time = naive(item.created_at)


def _snapshot(item: SnapshotSeed) -> None:
    backend = ec2_backends[item.account][item.region]
    snapshot = backend.create_snapshot(item.volume, "", owner_id=item.account)
    backend.snapshots[item.id] = backend.snapshots.pop(snapshot.id)
    snapshot.id = item.id
    snapshot.add_tags(dict(item.tags))
    snapshot.start_time = naive(item.started_at)


class _SeededKey(FakeKey):
    """An object that may report a size without holding bytes, also when it is copied.

    moto copies objects to list their versions, and leaves the copies' files open.
    """

    reported_size: int | None = None

    @property
    def size(self) -> int:
        if self.reported_size is None:
            return super().size
        return self.reported_size

    def __copy__(self) -> _SeededKey:
        twin = object.__new__(type(self))
        own = {"disposed": True, "_value_buffer": BytesIO(self.value)}
        twin.__dict__.update(self.__dict__ | own)
        return twin

    def __deepcopy__(self, memo: dict[int, object]) -> _SeededKey:
        return self.__copy__()


def _object(item: ObjectSeed) -> None:
    backend = s3_backends[item.account][PARTITION]
    if item.bucket not in backend.buckets:
        backend.create_bucket(item.bucket, item.region)
    key = backend.put_object(item.bucket, item.key, (item.text or "").encode())
    key.__class__ = _SeededKey
    if item.text is None:
        key.__dict__["reported_size"] = item.size
    key.last_modified = naive(item.modified_at)
    if item.tags:
        backend.put_object_tagging(key, dict(item.tags))
