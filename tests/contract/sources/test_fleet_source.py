"""EC2 as a source of the fleet: every scope is read whole, or named."""

from __future__ import annotations

from datetime import timedelta

import pytest

from billing.aws.inventory import Ec2FleetSource
from billing.core.fleet import FleetObservation, InstanceState, Lifecycle
from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.aws.builders import instance
from deploy.sandbox.aws.world import Account, VolumeSeed
from tests.builders import at
from tests.contract.sources.aws import MEMBER, NOW, PAYER, Aws

LAUNCHED = "2026-04-14T01:00"
EAST, WEST = (PAYER, "us-east-1"), (PAYER, "us-west-2")


def observe(
    aws: Aws,
    *scopes: tuple[str, str],
    keys: tuple[str, ...] = ("job-id",),
) -> FleetObservation:
    source = Ec2FleetSource(aws.clients(), scopes or (EAST,), job_tag_keys=keys)
    return source.observe(NOW)


def ids(observation: FleetObservation) -> list[str]:
    return [one.resource_id for one in observation.instances]


def test_accelerators_and_whatever_carries_a_job_tag_are_seen(aws: Aws) -> None:
    aws.serve(
        instances=[
            instance("i-00000000000000001", "p5.48xlarge", launched_at=LAUNCHED),
            instance("i-00000000000000002", "g5.xlarge", launched_at=LAUNCHED),
            instance("i-00000000000000003", "m6i.large", launched_at=LAUNCHED),
            instance(
                "i-00000000000000004", "m6i.large", launched_at=LAUNCHED,
                tags={"job-id": "j"},
            ),
            instance(
                "i-00000000000000005", "p5.48xlarge", launched_at=LAUNCHED,
                tags={"job-id": "j"},
            ),
        ]
    )  # fmt: skip

    observation = observe(aws)

    assert [one[-1] for one in ids(observation)] == ["1", "2", "4", "5"]
    assert observation.observed_at == NOW
    assert observation.scanned == (EAST,)
    assert observation.failures == ()


def test_the_server_filters_and_no_instance_is_read_twice(aws: Aws) -> None:
    sandbox = aws.serve(
        instances=[
            instance(f"i-{n:017d}", shape, launched_at=LAUNCHED, tags={"job-id": "j"})
            for n, shape in ((1, "p5.48xlarge"), (2, "m6i.large"))
        ]
    )

    observe(aws)

    filters = [
        {one["Name"]: one["Values"] for one in request.parameters["Filters"]}
        for request in sandbox.requests.of("DescribeInstances")
    ]
    assert [[*one] for one in filters] == [["instance-type"], ["instance-id"]]
    assert filters[1]["instance-id"] == ["i-00000000000000002"]


def test_what_an_instance_says_of_itself_is_kept(aws: Aws) -> None:
    aws.serve(
        instances=[
            instance(
                "i-00000000000000001", "p5.48xlarge", launched_at=LAUNCHED,
                lifecycle="spot", private_ip="10.0.0.7", zone="us-east-1b",
                tags={"job-id": "Job-1", "owner": ""},
            )
        ]
    )  # fmt: skip

    (one,) = observe(aws).instances

    assert (one.account, one.region, one.zone) == (*EAST, "us-east-1b")
    assert (one.lifecycle, one.state) == (Lifecycle.SPOT, InstanceState.RUNNING)
    assert one.launched_at == at(LAUNCHED)
    assert one.private_ip == "10.0.0.7"
    assert dict(one.tags) == {"job-id": "Job-1", "owner": ""}
    assert (one.transitioned_at, one.is_reclaimed) == (None, None)


def test_a_stopped_instance_says_since_when(aws: Aws) -> None:  # C147
    aws.serve(
        instances=[
            instance(
                "i-00000000000000001", "p5.48xlarge", launched_at=LAUNCHED,
                state="stopped", ended_at=at("2026-04-14T04:05"),
            )
        ]
    )  # fmt: skip

    (one,) = observe(aws).instances

    assert one.state is InstanceState.STOPPED
    assert one.transitioned_at == at("2026-04-14T04:05")
    assert one.transition_reason == "User initiated"
    assert one.is_reclaimed is False


def test_volumes_of_seen_instances_and_tagged_ones_are_seen(aws: Aws) -> None:
    gpu, other = "i-00000000000000001", "i-00000000000000002"
    made = at("2026-04-13")
    aws.serve(
        instances=[
            instance(gpu, "p5.48xlarge", launched_at=LAUNCHED),
            instance(other, "m6i.large", launched_at=LAUNCHED),
        ],
        volumes=[
            VolumeSeed(id="vol-0000000000000000a", created_at=made, instance=gpu),
            VolumeSeed(id="vol-0000000000000000b", created_at=made, instance=other),
            VolumeSeed(
                id="vol-0000000000000000c", created_at=made, size_gib=2048,
                tags={"job-id": "j"},
            ),
        ],
    )  # fmt: skip

    volumes = [one for one in observe(aws).volumes if one.created_at == made]

    assert [(one.resource_id[-1], one.attached_to) for one in volumes] == [
        ("a", gpu),
        ("c", ""),
    ]
    assert (volumes[1].size_gib, volumes[1].volume_type) == (2048, "gp3")


def test_long_lists_are_read_to_the_end(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws.serve(
        instances=[
            instance(f"i-0000000000000{n:04d}", "g5.xlarge", launched_at=LAUNCHED)
            for n in range(23)
        ]
    )
    monkeypatch.setattr("billing.aws.inventory.PAGE_SIZE", 5)

    assert len(observe(aws).instances) == 23


def three_scopes(aws: Aws) -> AwsSandbox:
    return aws.serve(
        accounts=[Account(id=MEMBER)],
        instances=[
            instance("i-00000000000000001", "p5.48xlarge", launched_at=LAUNCHED),
            instance(
                "i-00000000000000002", "p5.48xlarge", launched_at=LAUNCHED,
                region="us-west-2",
            ),
            instance(
                "i-00000000000000003", "p5.48xlarge", launched_at=LAUNCHED,
                account=MEMBER,
            ),
        ],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("deny", "UnauthorizedOperation"),
        ("expired-token", "RequestExpired"),
    ],
)
def test_a_blocked_region_is_named_and_the_others_are_kept(
    aws: Aws, kind: str, code: str
) -> None:  # C070
    sandbox = three_scopes(aws)
    sandbox.faults.add(kind=kind, service="ec2", region="us-west-2")

    observation = observe(aws, EAST, WEST, (MEMBER, "us-east-1"))

    assert [one[-1] for one in ids(observation)] == ["1", "3"]
    assert observation.scanned == ((MEMBER, "us-east-1"), EAST)
    assert [(one.region, one.code) for one in observation.failures] == [
        ("us-west-2", code)
    ]


def test_an_account_whose_role_is_refused_is_named(aws: Aws) -> None:
    sandbox = three_scopes(aws)
    sandbox.faults.add(kind="deny", service="sts", operation="AssumeRole")

    observation = observe(aws, EAST, (MEMBER, "us-east-1"))

    assert ids(observation) == ["i-00000000000000001"]
    assert [(one.account, one.code) for one in observation.failures] == [
        (MEMBER, "AccessDenied")
    ]


def test_an_endpoint_that_never_ends_its_answer_names_the_scope(aws: Aws) -> None:
    sandbox = three_scopes(aws)
    sandbox.faults.add(
        kind="truncate", operation="DescribeInstances", region="us-west-2"
    )

    observation = observe(aws, EAST, WEST)

    assert observation.scanned == (EAST,)
    assert [one.code for one in observation.failures] == ["incomplete_answer"]


def test_throttling_and_dropped_connections_are_waited_out(aws: Aws) -> None:
    sandbox = three_scopes(aws)
    sandbox.faults.add(kind="throttle", operation="DescribeInstances", times=1)
    sandbox.faults.add(kind="drop", operation="DescribeVolumes", times=1)

    observation = observe(aws)

    assert ids(observation) == ["i-00000000000000001"]
    assert observation.failures == ()


def test_terminated_instances_are_seen_while_ec2_shows_them(aws: Aws) -> None:  # C068
    aws.serve(
        instances=[
            instance(
                "i-00000000000000001", "p5.48xlarge", launched_at=LAUNCHED,
                state="terminated", ended_at=NOW - timedelta(minutes=12),
            )
        ]
    )  # fmt: skip

    (one,) = observe(aws).instances

    assert one.state is InstanceState.TERMINATED
    assert one.transitioned_at == NOW - timedelta(minutes=12)
