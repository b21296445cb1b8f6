"""Other services that fail, in some places and not in others."""

from __future__ import annotations

import pytest
from botocore.exceptions import EndpointConnectionError

from billing.aws.inventory import Ec2FleetSource
from billing.aws.resources import AwsFleetSource, AwsResources, is_missing
from billing.core.resources import Service
from billing.core.usage import ResourceKind
from deploy.sandbox.aws.builders import instance
from deploy.sandbox.aws.world import (
    Account,
)
from deploy.sandbox.aws.world_services import (
    Services,
)
from tests.contract.sources.aws import MEMBER, NOW, PAYER, Aws
from tests.contract.sources.services import (
    EAST,
    WEST,
    clients,
    job,
    read,
)


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


def test_services_that_are_not_used_are_not_asked(aws: Aws) -> None:
    sandbox = aws.serve(services=Services(training_jobs=[job()]))
    sandbox.faults.add(kind="deny", service="sagemaker")
    used = [Service.SNAPSHOTS, Service.FILE_SYSTEMS]

    found = AwsResources(clients(aws), [EAST], services=used).read(NOW)

    assert found.failures == ()
    assert {service for *_, service in found.scanned} == set(used)
    assert not [name for name in sandbox.requests.counts() if "sagemaker" in name]
