"""What every enforcer must do: look before it touches, and touch what it was told to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from billing.aws.session import AwsClients
from billing.ports import SourceUnavailableError
from bot.clock import system_now
from deploy.sandbox.aws.builders import instance
from policies.core.actions import Live
from policies.core.finding import Target
from policies.enforce.aws import INSTANCE_PERMISSIONS, Ec2Enforcer
from policies.ports import Enforcer
from tests.contract.sources.aws import PAYER
from tests.fakes.enforcer import InMemoryEnforcer

if TYPE_CHECKING:
    from tests.contract.sources.aws import Aws

LAUNCHED = datetime(2026, 4, 13, tzinfo=UTC)
NAME = "i-00000000000000001"
ROLE = "arn:aws:iam::{account}:role/gpucost-enforce"


def target(name: str = NAME, account: str = PAYER) -> Target:
    return Target(
        resource_id=name, account=account, region="us-east-1", manager="ec2",
        lifecycle="on-demand", started_at=LAUNCHED,
    )  # fmt: skip


def against_aws(aws: Aws) -> Enforcer:
    aws.serve(
        instances=[
            instance(
                NAME, "p5.48xlarge", launched_at=LAUNCHED.isoformat(),
                tags={"gpucost-managed": "true"},
            )
        ],
    )  # fmt: skip
    clients = AwsClients(role=ROLE, is_role_everywhere=True)
    return Ec2Enforcer(clients, system_now)


def in_memory(_aws: Aws) -> Enforcer:
    live = Live(
        state="running", tags=(("gpucost-managed", "true"),), started_at=LAUNCHED,
        is_protected=False, skew=timedelta(),
    )  # fmt: skip
    return InMemoryEnforcer({NAME: live})


@pytest.fixture(params=[against_aws, in_memory])
def enforcer(request: pytest.FixtureRequest, aws: Aws) -> Enforcer:
    make: Callable[[Aws], Enforcer] = request.param
    return make(aws)


def test_a_machine_is_seen_as_it_is_now(enforcer: Enforcer) -> None:
    live = enforcer.look(target())

    assert live.skew is not None
    assert replace(live, skew=None) == Live(
        state="running", tags=(("gpucost-managed", "true"),), started_at=LAUNCHED,
        is_protected=False,
    )  # fmt: skip


def test_what_is_not_there_has_no_state(enforcer: Enforcer) -> None:
    assert enforcer.look(target("i-0000000000000dead")).state == ""


@pytest.mark.parametrize(
    ("verb", "states"),
    [
        ("stop", {"stopping", "stopped"}),
        ("terminate", {"shutting-down", "terminated"}),
    ],
)
def test_what_is_touched_is_seen_to_end(
    enforcer: Enforcer, verb: str, states: set[str]
) -> None:
    enforcer.act(verb, target())

    assert enforcer.look(target()).state in states


def test_the_enforce_role_is_taken_also_in_the_callers_own_account(aws: Aws) -> None:
    enforcer = against_aws(aws)

    enforcer.look(target())

    assert "sts:AssumeRole" in aws.sandbox.requests.counts()


def test_a_refusal_is_named_and_changes_nothing(aws: Aws) -> None:
    enforcer = against_aws(aws)
    aws.sandbox.faults.add(kind="deny", operation="StopInstances")

    with pytest.raises(SourceUnavailableError, match="StopInstances"):
        enforcer.act("stop", target())

    assert enforcer.look(target()).state == "running"


def test_the_listed_permissions_are_the_calls_that_are_made(aws: Aws) -> None:
    enforcer = against_aws(aws)

    enforcer.look(target())
    enforcer.act("stop", target())
    enforcer.act("terminate", target())

    called = set(aws.sandbox.requests.counts()) - {"sts:AssumeRole"}
    assert called == set(INSTANCE_PERMISSIONS)
