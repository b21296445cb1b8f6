"""What tests of other services than EC2's instances share."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from billing.aws.resources import AwsResources
from billing.aws.session import AwsClients
from billing.core.resources import OtherResources, Resource
from deploy.sandbox.aws.world_services import (
    Services,
    TrainingJobSeed,
)
from tests.contract.sources.aws import NOW, PAYER, Aws

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
