"""Services beside EC2's instances: each read whole in each scope, or named."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from billing.aws.inventory import Ec2FleetSource
from billing.aws.resources import AwsFleetSource, AwsResources, is_missing
from billing.aws.session import AwsClients
from billing.core.fleet import Lifecycle
from billing.core.money import Money, Rate
from billing.core.resources import OtherResources, Resource, Service
from billing.core.usage import ResourceKind
from deploy.sandbox.aws.builders import instance
from deploy.sandbox.aws.world import (
    Account,
    CapacityReservationSeed,
    SnapshotSeed,
    VolumeSeed,
)
from deploy.sandbox.aws.world_services import (
    ClusterGroupSeed,
    ClusterSeed,
    EndpointSeed,
    ExtensionSeed,
    FileSystemSeed,
    GroupSeed,
    NatGatewaySeed,
    NodeSeed,
    NotebookSeed,
    Services,
    StudioAppSeed,
    TrainingJobSeed,
    TrainingPlanSeed,
    VariantSeed,
)
from tests.builders import at
from tests.contract.sources.aws import MEMBER, NOW, PAYER, Aws

EAST, WEST = (PAYER, "us-east-1"), (PAYER, "us-west-2")
TAGS = {"job-id": "job-123"}
_CLIENTS: list[AwsClients] = []
EARLIER = NOW - timedelta(hours=5)
LATELY = NOW - timedelta(hours=1)


def read(
    aws: Aws, *scopes: tuple[str, str], services: Services | None = None, **world: Any
) -> OtherResources:
    aws.serve(services=services or Services(), **world)
    source = AwsResources(clients(aws), scopes or (EAST,), job_tag_keys=["job-id"])
    return source.read(NOW)


def clients(aws: Aws) -> AwsClients:
    """Return clients that these tests share: making one takes longer than its calls."""
    if not _CLIENTS:
        _CLIENTS.append(aws.clients())
    return _CLIENTS[0]


def only(found: OtherResources) -> Resource:
    assert found.failures == ()
    (resource,) = found.resources
    return resource


def job(name: str = "bert", **fields: Any) -> TrainingJobSeed:
    values: dict[str, Any] = {
        "created_at": EARLIER,
        "started_at": EARLIER,
        "tags": TAGS,
    }
    return TrainingJobSeed(name=name, **(values | fields))


def test_a_running_training_job_is_its_instances_since_it_started(aws: Aws) -> None:
    found = only(read(aws, services=Services(training_jobs=[job(count=2)])))

    assert found.kind is ResourceKind.TRAINING_JOB
    assert (found.shape, found.units) == ("ml.p4d.24xlarge", 2)
    assert (found.started_at, found.ended_at) == (EARLIER, None)
    assert found.billed_s is None
    assert found.tags == TAGS


def test_a_training_job_that_waits_for_instances_costs_nothing(aws: Aws) -> None:
    services = Services(training_jobs=[job(started_at=None)])

    assert read(aws, services=services).resources == ()


def test_an_ended_job_says_how_many_of_its_seconds_are_billed(aws: Aws) -> None:  # C154
    spot = job(
        count=2, ended_at=EARLIER + timedelta(hours=1), billable_s=1080, spot=True
    )

    found = only(read(aws, services=Services(training_jobs=[spot])))

    assert found.lifecycle is Lifecycle.MANAGED_SPOT
    assert (found.ended_at, found.billed_s) == (EARLIER + timedelta(hours=1), 1080)


def test_each_group_of_a_mixed_cluster_is_its_own(aws: Aws) -> None:
    groups = [
        GroupSeed(name="gpu", instance_type="ml.p4d.24xlarge", count=4),
        GroupSeed(name="cpu", instance_type="ml.c5.xlarge", count=2),
    ]

    found = read(aws, services=Services(training_jobs=[job(groups=groups)]))

    assert [(one.shape, one.units) for one in found.resources] == [
        ("ml.c5.xlarge", 2),
        ("ml.p4d.24xlarge", 4),
    ]


def test_a_warm_pool_costs_until_it_is_let_go(aws: Aws) -> None:
    kept = job(name="kept", ended_at=LATELY, warm_until=NOW + timedelta(minutes=30))
    gone = job(name="gone", ended_at=LATELY, warm_until=LATELY + timedelta(minutes=10))

    found = read(aws, services=Services(training_jobs=[kept, gone]))

    pools = {
        one.resource_id.split("/")[1]: one.ended_at
        for one in found.resources
        if one.kind is ResourceKind.WARM_POOL
    }
    assert pools == {"kept": None, "gone": LATELY + timedelta(minutes=10)}


def test_jobs_that_ended_long_ago_are_not_described_again(aws: Aws) -> None:
    old = job(ended_at=EARLIER + timedelta(minutes=1))
    sandbox = aws.serve(services=Services(training_jobs=[old]))
    sandbox.clock.set(NOW + timedelta(days=1))

    source = AwsResources(clients(aws), [EAST])

    assert source.read(NOW + timedelta(days=1)).resources == ()
    assert sandbox.requests.count("DescribeTrainingJob") == 0


def test_more_jobs_than_a_page_are_all_read(aws: Aws) -> None:
    jobs = [job(name=f"job-{number:03}", tags={}) for number in range(120)]

    assert len(read(aws, services=Services(training_jobs=jobs)).resources) == 120


def test_nodes_of_a_cluster_carry_its_tags_and_their_own_start(aws: Aws) -> None:
    plan = "arn:aws:sagemaker:us-east-1:123456789012:training-plan/p"
    cluster = ClusterSeed(
        name="pod",
        created_at=EARLIER,
        tags=TAGS,
        groups=[
            ClusterGroupSeed(
                name="workers",
                instance_type="ml.p5.48xlarge",
                nodes=[
                    NodeSeed(id="i-00000000000000001", launched_at=EARLIER),
                    NodeSeed(
                        id="i-00000000000000002", launched_at=LATELY, status="Pending"
                    ),
                ],
            ),
            ClusterGroupSeed(
                name="planned",
                instance_type="ml.p5.48xlarge",
                nodes=[NodeSeed(id="i-00000000000000003", launched_at=LATELY)],
                plan=plan,
            ),
            ClusterGroupSeed(
                name="spot",
                instance_type="ml.g5.xlarge",
                nodes=[NodeSeed(id="i-00000000000000004", launched_at=LATELY)],
                spot=True,
            ),
        ],
    )

    found = read(aws, services=Services(clusters=[cluster]))

    assert found.failures == ()
    assert [
        (one.resource_id[-1], one.started_at, one.lifecycle, one.reservation_id)
        for one in found.resources
    ] == [
        ("1", EARLIER, Lifecycle.ON_DEMAND, ""),
        ("3", LATELY, Lifecycle.TRAINING_PLAN, plan),
        ("4", LATELY, Lifecycle.MANAGED_SPOT, ""),
    ]
    assert all(one.tags == TAGS for one in found.resources)


def test_an_endpoint_is_its_variants_and_their_instances_now(aws: Aws) -> None:
    live = EndpointSeed(
        name="chat",
        created_at=EARLIER,
        modified_at=LATELY,
        tags=TAGS,
        variants=[VariantSeed(name="a", count=3), VariantSeed(name="b", count=0)],
    )
    failed = EndpointSeed(name="broken", created_at=EARLIER, status="Failed")
    lazy = EndpointSeed(
        name="lazy", created_at=EARLIER, variants=[VariantSeed(instance_type=None)]
    )

    found = read(aws, services=Services(endpoints=[live, failed, lazy]))

    assert found.failures == ()
    assert [(one.shape, one.units, one.started_at) for one in found.resources] == [
        ("ml.g5.xlarge", 3, LATELY),
        ("ml.g5.xlarge", 0, LATELY),
        ("serverless", 1, EARLIER),
    ]


def test_notebooks_and_studio_apps_that_run_are_seen(aws: Aws) -> None:
    services = Services(
        notebooks=[
            NotebookSeed(name="n1", created_at=EARLIER, modified_at=LATELY, tags=TAGS),
            NotebookSeed(name="n2", created_at=EARLIER, status="Stopped"),
        ],
        studio_apps=[
            StudioAppSeed(name="default", created_at=LATELY, space="s1", tags=TAGS),
            StudioAppSeed(name="user", created_at=LATELY, user="mia"),
            StudioAppSeed(
                name="server", created_at=LATELY, user="mia", instance_type="system"
            ),
            StudioAppSeed(name="old", created_at=EARLIER, user="mia", status="Deleted"),
        ],
    )

    found = read(aws, services=services)

    assert found.failures == ()
    assert [(one.kind, one.started_at, one.tags) for one in found.resources] == [
        (ResourceKind.STUDIO_APP, LATELY, {}),
        (ResourceKind.STUDIO_APP, LATELY, TAGS),
        (ResourceKind.NOTEBOOK, LATELY, TAGS),
    ]


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


@pytest.mark.parametrize(
    ("operation", "service"),
    [
        ("ListTrainingJobs", Service.TRAINING),
        ("ListClusters", Service.CLUSTERS),
        ("ListEndpoints", Service.ENDPOINTS),
        ("ListNotebookInstances", Service.NOTEBOOKS),
        ("ListApps", Service.STUDIO),
        ("ListTrainingPlans", Service.TRAINING_PLANS),
        ("DescribeFileSystems", Service.FILE_SYSTEMS),
        ("DescribeNatGateways", Service.NAT_GATEWAYS),
        ("DescribeSnapshots", Service.SNAPSHOTS),
        ("DescribeCapacityReservations", Service.RESERVATIONS),
    ],
)
def test_a_service_that_is_closed_in_one_region_is_named_and_takes_nothing_else(
    aws: Aws, operation: str, service: Service
) -> None:
    sandbox = aws.serve(
        instances=[
            instance("i-00000000000000001", "p5.48xlarge", launched_at="2026-04-14")
        ]
    )
    sandbox.faults.add(kind="deny", operation=operation, region="us-west-2")
    mine, scopes = clients(aws), [EAST, WEST]
    source = AwsFleetSource(
        Ec2FleetSource(mine, scopes),
        AwsResources(mine, scopes, job_tag_keys=["j"]),
    )

    seen = source.observe(NOW)

    assert seen.scanned == (EAST, WEST)
    assert seen.failures == ()
    assert len(seen.instances) == 1
    assert seen.others is not None
    (failure,) = seen.others.failures
    assert (failure.region, failure.service) == ("us-west-2", service)
    assert service.value in failure.text
    assert len(seen.others.scanned) == 2 * len(Service) - 1
    assert (*WEST, service) not in seen.others.scanned


def test_several_accounts_are_read(aws: Aws) -> None:
    services = Services(
        training_jobs=[job(), job(name="other", account=MEMBER)],
    )

    found = read(
        aws,
        EAST,
        (MEMBER, "us-east-1"),
        services=services,
        accounts=[Account(id=MEMBER)],
    )

    assert sorted(one.account for one in found.resources) == [MEMBER, PAYER]


def test_a_page_that_fails_leaves_the_service_unread(aws: Aws) -> None:
    jobs = [job(name=f"job-{number:03}", tags={}) for number in range(120)]
    sandbox = aws.serve(services=Services(training_jobs=jobs))
    sandbox.faults.add(kind="fail", operation="ListTrainingJobs", skip=1)

    found = AwsResources(clients(aws), [EAST]).read(NOW)

    assert [one.service for one in found.failures] == [Service.TRAINING]
    assert not [o for o in found.resources if o.kind is ResourceKind.TRAINING_JOB]


def test_a_region_that_has_no_such_service_is_no_failure() -> None:
    gone = EndpointConnectionError(endpoint_url="https://sagemaker.example")

    assert is_missing("sagemaker", "eu-nowhere-1", gone) is True
    assert is_missing("sagemaker", "us-east-1", gone) is False
    assert is_missing("sagemaker", "us-east-1", ValueError()) is False
