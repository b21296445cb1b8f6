"""Services beside EC2's instances: each read whole in each scope, or named."""

from __future__ import annotations

from datetime import timedelta

from billing.aws.resources import AwsResources
from billing.core.fleet import Lifecycle
from billing.core.usage import ResourceKind
from deploy.sandbox.aws.world_services import (
    ClusterGroupSeed,
    ClusterSeed,
    EndpointSeed,
    GroupSeed,
    NodeSeed,
    NotebookSeed,
    Services,
    StudioAppSeed,
    VariantSeed,
)
from tests.contract.sources.aws import NOW, Aws
from tests.contract.sources.services import (
    EARLIER,
    EAST,
    LATELY,
    TAGS,
    clients,
    job,
    only,
    read,
)


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
