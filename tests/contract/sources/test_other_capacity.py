"""Storage, network and reserved capacity beside instances."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from billing.core.fleet import Lifecycle
from billing.core.money import Money, Rate
from billing.core.usage import ResourceKind
from deploy.sandbox.aws.world import (
    CapacityReservationSeed,
    SnapshotSeed,
    VolumeSeed,
)
from deploy.sandbox.aws.world_services import (
    ExtensionSeed,
    FileSystemSeed,
    NatGatewaySeed,
    Services,
    TrainingPlanSeed,
)
from tests.builders import at
from tests.contract.sources.aws import MEMBER, Aws
from tests.contract.sources.services import (
    EARLIER,
    LATELY,
    TAGS,
    only,
    read,
)


def test_lustre_file_systems_and_gateways_are_seen(aws: Aws) -> None:
    services = Services(
        file_systems=[
            FileSystemSeed(id="fs-0123456789abcdef0", created_at=EARLIER, tags=TAGS),
            FileSystemSeed(
                id="fs-0123456789abcdef1", created_at=EARLIER, type="WINDOWS"
            ),
            FileSystemSeed(
                id="fs-0123456789abcdef2", created_at=EARLIER, lifecycle="CREATING"
            ),
        ],
        nat_gateways=[
            NatGatewaySeed(id="nat-0123456789abcdef0", created_at=EARLIER, tags=TAGS),
            NatGatewaySeed(
                id="nat-0123456789abcdef1", created_at=EARLIER, deleted_at=LATELY
            ),
        ],
    )

    found = read(aws, services=services)

    assert found.failures == ()
    lustre, gateway = found.resources
    assert (lustre.shape, lustre.size_gib, lustre.throughput_mibps) == (
        "lustre:persistent_2:ssd",
        1200,
        125,
    )
    assert gateway.resource_id == "nat-0123456789abcdef0"
    assert lustre.tags == gateway.tags == TAGS


def test_snapshots_of_jobs_are_listed(aws: Aws) -> None:
    volume = VolumeSeed(id="vol-00000000000000001", created_at=EARLIER, size_gib=200)
    snapshots = [
        SnapshotSeed(
            id=f"snap-0000000000000000{number}",
            volume=volume.id,
            started_at=LATELY,
            tags=TAGS if number == 1 else {},
        )
        for number in (1, 2)
    ]

    found = only(read(aws, volumes=[volume], snapshots=snapshots))

    assert (found.kind, found.size_gib) == (ResourceKind.SNAPSHOT, 200)
    assert found.parent_id == volume.id


def block(**fields: Any) -> CapacityReservationSeed:
    values: dict[str, Any] = {
        "id": "cr-00000000000000001",
        "instance_type": "p5.48xlarge",
        "started_at": at("2026-04-14T00:00Z"),
        "ends_at": at("2026-04-18T00:00Z"),
        "bought_at": at("2026-03-26T10:00Z"),
        "type": "capacity-block",
        "count": 2,
        "available": 1,
    }
    return CapacityReservationSeed(**(values | fields))


def test_a_block_and_its_unused_instances_are_seen(aws: Aws) -> None:  # C039
    found = read(
        aws,
        capacity_reservations=[block()],
        services=Services(
            extensions=[
                ExtensionSeed(
                    reservation=block().id, bought_at=LATELY, hours=24, fee="2304.00"
                ),
                ExtensionSeed(
                    reservation=block().id,
                    bought_at=LATELY,
                    hours=24,
                    fee="1.00",
                    status="payment-failed",
                ),
            ]
        ),
    )

    (reservation,) = found.reservations
    assert reservation.fee is None
    assert reservation.extension_fee == Money.of("2304.00")
    assert reservation.bought_at == at("2026-03-26T10:00Z")
    unused = only(found)
    assert (unused.kind, unused.units) == (ResourceKind.UNUSED_CAPACITY, 1)
    assert unused.lifecycle is Lifecycle.CAPACITY_BLOCK
    assert unused.is_level


def test_capacity_that_another_account_pays_for_is_not_ours(aws: Aws) -> None:
    found = read(aws, capacity_reservations=[block(payer=MEMBER)])

    assert found.reservations == ()


def test_an_expired_block_ends_when_it_ended(aws: Aws) -> None:
    ended = block(ends_at=at("2026-04-14T05:00Z"), available=2)

    found = only(read(aws, capacity_reservations=[ended]))

    assert (found.is_running, found.ended_at) == (False, at("2026-04-14T05:00Z"))


def test_a_training_plan_names_its_fee_and_what_nobody_uses(aws: Aws) -> None:
    plan = TrainingPlanSeed(
        name="p", starts_at=EARLIER, ends_at=EARLIER + timedelta(hours=48),
        fee="9600.00", count=2, available=1,
    )  # fmt: skip

    found = read(aws, services=Services(training_plans=[plan]))

    (reservation,) = found.reservations
    assert reservation.rate == Rate.of("100.00")
    assert only(found).kind is ResourceKind.UNUSED_PLAN
