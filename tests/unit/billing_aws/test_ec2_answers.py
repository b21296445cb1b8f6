"""What EC2's own words mean."""

from __future__ import annotations

from typing import Any

import pytest

from billing.aws.ec2_answers import (
    instance_from,
    reclaimed,
    transition_time,
    volume_from,
)
from billing.core.fleet import Lifecycle
from tests.builders import at

RAW: dict[str, Any] = {
    "InstanceId": "i-0abc",
    "InstanceType": "p5.48xlarge",
    "State": {"Name": "terminated"},
    "LaunchTime": at("2026-03-01T09:00"),
}


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        ("Server.SpotInstanceTermination", "Service initiated", True),
        ("Server.SpotInstanceShutdown", "", True),
        ("", "Server.SpotInstanceTermination: Spot", True),
        ("Client.UserInitiatedShutdown", "User initiated", False),
        ("", "User initiated", False),
        ("Server.InternalError", "Service initiated", None),
        ("", "", None),
    ],
)
def test_who_ended_an_instance(code: str, reason: str, expected: bool | None) -> None:  # noqa: FBT001
    assert reclaimed(code, reason) is expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("User initiated (2026-03-01 10:05:00 GMT)", "2026-03-01T10:05"),
        ("Service initiated (2026-03-01 10:05:00 UTC)", "2026-03-01T10:05"),
    ],
)
def test_the_time_in_a_reason_is_utc(reason: str, expected: str) -> None:
    assert transition_time(reason) == at(expected)


def test_a_reason_without_time_names_none() -> None:
    assert transition_time("Server.SpotInstanceTermination") is None


def test_a_reclaimed_spot_instance_says_so_and_when() -> None:
    one = instance_from(
        RAW
        | {
            "InstanceLifecycle": "spot",
            "StateTransitionReason": "Service initiated (2026-03-01 10:05:00 GMT)",
            "StateReason": {"Code": "Server.SpotInstanceTermination", "Message": ""},
        },
        "012345678901",
        "us-east-1",
    )

    assert (one.lifecycle, one.is_reclaimed) == (Lifecycle.SPOT, True)
    assert one.transitioned_at == at("2026-03-01T10:05")
    assert one.transition_reason == "Service initiated"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("spot", Lifecycle.SPOT),
        ("capacity-block", Lifecycle.CAPACITY_BLOCK),
        ("scheduled", Lifecycle.ON_DEMAND),
    ],
)
def test_lifecycles_are_told_apart(raw: str, expected: Lifecycle) -> None:
    one = instance_from(RAW | {"InstanceLifecycle": raw}, "1", "us-east-1")

    assert one.lifecycle is expected


def test_a_missing_member_is_an_error_and_no_default() -> None:
    cut = {key: value for key, value in RAW.items() if key != "LaunchTime"}

    with pytest.raises(KeyError):
        instance_from(cut, "1", "us-east-1")


def test_a_volume_without_attachment_is_attached_to_nothing() -> None:
    one = volume_from(
        {
            "VolumeId": "vol-1",
            "VolumeType": "gp3",
            "Size": 2048,
            "State": "available",
            "CreateTime": at("2026-03-01"),
            "Iops": 3000,
            "Throughput": 125,
            "Attachments": [],
        },
        "1",
        "us-east-1",
    )

    assert (one.attached_to, one.iops, one.throughput_mibps) == ("", 3000, 125)
