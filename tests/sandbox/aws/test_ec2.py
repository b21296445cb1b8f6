"""EC2, CloudWatch, S3 and accounts through real clients."""

from __future__ import annotations

from typing import Any

import pytest

from deploy.sandbox.aws import AwsSandbox, World
from deploy.sandbox.aws.builders import (
    instance,
    instant,
    spot_series,
)
from deploy.sandbox.aws.world import (
    Account,
    CapacityReservationSeed,
    SnapshotSeed,
    VolumeSeed,
)
from tests.sandbox.aws.calls import refused
from tests.sandbox.aws.conftest import NOW, Serve

ML = "012345678901"


def instances(sandbox: AwsSandbox, **params: Any) -> list[Any]:
    answer = sandbox.client("ec2").describe_instances(**params)
    return [i for r in answer["Reservations"] for i in r["Instances"]]


def ids(sandbox: AwsSandbox, **params: Any) -> list[str]:
    return [item["InstanceId"] for item in instances(sandbox, **params)]


def test_a_seeded_instance_has_the_worlds_facts(serve: Serve) -> None:
    seed = instance(
        "i-0aaa",
        "p5.48xlarge",
        launched_at="2026-04-13T01:02:03",
        zone="us-east-1c",
        lifecycle="capacity-block",
        capacity_reservation_id="cr-1",
        tags={"job-id": "job-1"},
    )

    found = instances(serve(World(instances=[seed])), InstanceIds=["i-0aaa"])[0]

    assert found["InstanceType"] == "p5.48xlarge"
    assert found["LaunchTime"] == instant("2026-04-13T01:02:03")
    assert found["Placement"]["AvailabilityZone"] == "us-east-1c"
    assert found["InstanceLifecycle"] == "capacity-block"
    assert found["CapacityReservationId"] == "cr-1"
    assert found["Tags"] == [{"Key": "job-id", "Value": "job-1"}]


def test_on_demand_instances_have_no_lifecycle(serve: Serve) -> None:
    seed = instance("i-0aaa", "p5.48xlarge", launched_at="2026-04-13")

    assert "InstanceLifecycle" not in instances(serve(World(instances=[seed])))[0]


def test_launch_time_follows_the_clock_and_moves_at_each_start(serve: Serve) -> None:
    sandbox = serve(World())
    client = sandbox.client("ec2")
    launched = client.run_instances(
        ImageId="ami-1", InstanceType="g5.xlarge", MinCount=1, MaxCount=1
    )["Instances"][0]
    key = [launched["InstanceId"]]

    sandbox.clock.set("2026-04-14T07:00:00Z")
    client.stop_instances(InstanceIds=key)
    stopped = instances(sandbox)[0]
    sandbox.clock.set("2026-04-14T08:00:00Z")
    client.start_instances(InstanceIds=key)
    restarted = instances(sandbox)[0]

    assert launched["LaunchTime"] == instant(NOW)
    reason = "User initiated (2026-04-14 07:00:00 GMT)"
    assert stopped["StateTransitionReason"] == reason
    assert restarted["LaunchTime"] == instant("2026-04-14T08:00:00")


def test_terminated_instances_are_visible_for_an_hour(serve: Serve) -> None:
    seed = instance("i-0aaa", "g5.xlarge", launched_at="2026-04-13")
    sandbox = serve(World(instances=[seed]))
    sandbox.client("ec2").terminate_instances(InstanceIds=["i-0aaa"])

    sandbox.clock.set("2026-04-14T06:59:59Z")
    before = instances(sandbox)[0]["State"]["Name"]
    sandbox.clock.set("2026-04-14T07:00:00Z")
    after = instances(sandbox)

    assert (before, after) == ("terminated", [])


def test_termination_protection_given_at_launch_holds(serve: Serve) -> None:
    client = serve(World()).client("ec2")
    launched = client.run_instances(
        ImageId="ami-1", MinCount=1, MaxCount=1, DisableApiTermination=True
    )["Instances"][0]["InstanceId"]

    code, _ = refused(lambda: client.terminate_instances(InstanceIds=[launched]))

    assert code == "OperationNotPermitted"


def test_a_seeded_instance_can_be_protected_stopped_and_spot(serve: Serve) -> None:
    world = World(
        instances=[
            instance(
                "i-0aaa",
                "g5.xlarge",
                launched_at="2026-04-13",
                state="stopped",
                ended_at=instant("2026-04-13T05:00:00"),
                lifecycle="spot",
                termination_protected=True,
            )
        ]
    )
    sandbox = serve(world)

    found = instances(sandbox)[0]
    attribute = sandbox.client("ec2").describe_instance_attribute(
        InstanceId="i-0aaa", Attribute="disableApiTermination"
    )

    assert (found["State"]["Name"], found["InstanceLifecycle"]) == ("stopped", "spot")
    assert found["StateTransitionReason"].endswith("(2026-04-13 05:00:00 GMT)")
    assert attribute["DisableApiTermination"]["Value"] is True


def fleet(count: int) -> World:
    return World(
        instances=[
            instance(f"i-{n:04x}", "g5.xlarge", launched_at="2026-04-13")
            for n in range(count)
        ],
        volumes=[
            VolumeSeed(id=f"vol-{n:04x}", created_at=instant("2026-04-01"))
            for n in range(count)
        ],
    )


@pytest.mark.parametrize(
    ("operation", "field"),
    [("describe_instances", "Reservations"), ("describe_volumes", "Volumes")],
)
def test_long_lists_are_paged_without_loss(
    serve: Serve, operation: str, field: str
) -> None:
    client = serve(fleet(12)).client("ec2")
    pages = client.get_paginator(operation).paginate(PaginationConfig={"PageSize": 5})

    sizes = [len(page[field]) for page in pages]

    assert sizes == [5, 5, 2]


def test_wrong_page_requests_are_refused(serve: Serve) -> None:
    client = serve(fleet(6)).client("ec2")

    small = refused(lambda: client.describe_instances(MaxResults=4))
    token = refused(lambda: client.describe_instances(NextToken="nonsense"))
    both = refused(
        lambda: client.describe_instances(MaxResults=5, InstanceIds=["i-0000"])
    )

    assert small[0] == "InvalidParameterValue"
    assert token[0] == "InvalidParameterValue"
    assert both[0] == "InvalidParameterCombination"


def test_an_unknown_instance_is_refused(serve: Serve) -> None:
    client = serve(fleet(1)).client("ec2")

    code, _ = refused(lambda: client.describe_instances(InstanceIds=["i-0bad"]))

    assert code == "InvalidInstanceID.NotFound"


def test_volumes_and_snapshots_belong_together(serve: Serve) -> None:
    world = World(
        instances=[instance("i-0aaa", "g5.xlarge", launched_at="2026-04-13")],
        volumes=[
            VolumeSeed(
                id="vol-0aaa",
                created_at=instant("2026-04-01"),
                instance="i-0aaa",
                size_gib=500,
                tags={"job-id": "job-1"},
            )
        ],
        snapshots=[
            SnapshotSeed(
                id="snap-0aaa", volume="vol-0aaa", started_at=instant("2026-04-02")
            )
        ],
    )
    client = serve(world).client("ec2")

    volume = client.describe_volumes()["Volumes"][0]
    snapshots = client.describe_snapshots(OwnerIds=["self"])["Snapshots"]

    assert (volume["Size"], volume["VolumeType"]) == (500, "gp3")
    assert volume["CreateTime"] == instant("2026-04-01")
    assert volume["Attachments"][0]["InstanceId"] == "i-0aaa"
    assert [(s["SnapshotId"], s["VolumeId"]) for s in snapshots] == [
        ("snap-0aaa", "vol-0aaa")
    ]


SPOT = World(
    spot=[
        *spot_series("p5.48xlarge", "us-east-1a", ["10", "11"], start="2026-04-13"),
        *spot_series("p5.48xlarge", "us-east-1b", ["9"], start="2026-04-13T03:00"),
        *spot_series("g5.xlarge", "us-east-1a", ["0.4"], start="2026-04-13"),
        *spot_series("g5.xlarge", "us-west-2a", ["0.3"], start="2026-04-13"),
        *spot_series("g5.xlarge", "us-east-1a", ["0.9"], start="2026-04-15"),
    ]
)


def spot(sandbox: AwsSandbox, **params: Any) -> list[tuple[str, str]]:
    answer = sandbox.client("ec2").describe_spot_price_history(**params)
    return [(p["AvailabilityZone"], p["SpotPrice"]) for p in answer["SpotPriceHistory"]]


def test_spot_prices_are_the_worlds_newest_first(serve: Serve) -> None:
    sandbox = serve(SPOT)

    found = spot(sandbox, InstanceTypes=["p5.48xlarge"])
    since = spot(
        sandbox, InstanceTypes=["p5.48xlarge"], StartTime=instant("2026-04-13T05:00")
    )

    assert found == [("us-east-1a", "11"), ("us-east-1b", "9"), ("us-east-1a", "10")]
    assert sorted(since) == sorted(found)


def test_spot_prices_of_the_future_and_of_other_regions_are_hidden(
    serve: Serve,
) -> None:
    sandbox = serve(SPOT)

    assert spot(sandbox, InstanceTypes=["g5.xlarge"]) == [("us-east-1a", "0.4")]
    assert spot(sandbox, AvailabilityZone="us-east-1b") == [("us-east-1b", "9")]


def test_spot_filters_are_checked(serve: Serve) -> None:
    sandbox = serve(SPOT)

    wrong = refused(
        lambda: spot(sandbox, Filters=[{"Name": "colour", "Values": ["red"]}])
    )

    assert wrong[0] == "InvalidParameterValue"


def test_capacity_reservations_come_from_the_world(serve: Serve) -> None:
    block = CapacityReservationSeed(
        id="cr-1",
        instance_type="p5.48xlarge",
        count=2,
        started_at=instant("2026-04-13"),
        ends_at=instant("2026-04-15"),
        type="capacity-block",
    )
    client = serve(World(capacity_reservations=[block])).client("ec2")

    found = client.describe_capacity_reservations()["CapacityReservations"][0]
    missing = refused(
        lambda: client.describe_capacity_reservations(CapacityReservationIds=["cr-9"])
    )

    assert (found["ReservationType"], found["State"]) == ("capacity-block", "active")
    assert found["EndDate"] == instant("2026-04-15")
    assert missing[0] == "InvalidCapacityReservationId.NotFound"


def test_accounts_and_regions_are_apart(serve: Serve) -> None:
    world = World(
        accounts=[Account(id="123456789012"), Account(id=ML, name="ml")],
        instances=[
            instance("i-0aaa", "g5.xlarge", launched_at="2026-04-13"),
            instance(
                "i-0bbb",
                "g5.xlarge",
                launched_at="2026-04-13",
                account=ML,
                region="us-west-2",
            ),
        ],
    )
    sandbox = serve(world)

    west = sandbox.client("ec2", account=ML, region="us-west-2")
    found = west.describe_instances()["Reservations"][0]["Instances"]
    caller = sandbox.client("sts", account=ML).get_caller_identity()

    assert ids(sandbox) == ["i-0aaa"]
    assert [item["InstanceId"] for item in found] == ["i-0bbb"]
    assert caller["Account"] == ML
    assert sandbox.requests.of("DescribeInstances")[-1].account == "123456789012"


def test_organizations_lists_the_worlds_accounts(serve: Serve) -> None:
    world = World(
        accounts=[
            Account(id="123456789012", name="payer"),
            Account(id=ML, name="ml", status="SUSPENDED"),
        ]
    )

    answer = serve(world).client("organizations").list_accounts()["Accounts"]

    found = {(item["Id"], item["Name"], item["Status"]) for item in answer}
    assert found == {("123456789012", "payer", "ACTIVE"), (ML, "ml", "SUSPENDED")}


def test_a_role_in_an_account_outside_the_world_is_refused(serve: Serve) -> None:
    sandbox = serve(World())

    code, _ = refused(lambda: sandbox.client("sts", account="999999999999"))

    assert code == "AccessDenied"


def test_instances_are_filtered_by_tag_and_state(serve: Serve) -> None:
    seeds = [
        instance("i-0aaa", "g5.xlarge", launched_at="2026-04-13", tags={"team": "a"}),
        instance("i-0bbb", "g5.xlarge", launched_at="2026-04-13", tags={"team": "b"}),
    ]
    sandbox = serve(World(instances=seeds))

    by_tag = ids(sandbox, Filters=[{"Name": "tag:team", "Values": ["b"]}])
    stopped = ids(
        sandbox, Filters=[{"Name": "instance-state-name", "Values": ["stopped"]}]
    )
    wrong = refused(lambda: ids(sandbox, Filters=[{"Name": "mood", "Values": ["x"]}]))

    assert (by_tag, stopped) == (["i-0bbb"], [])
    assert wrong[0] == "NotImplementedInSandbox"
    assert refused(lambda: ids(sandbox, DryRun=True))[0] == "DryRunOperation"
