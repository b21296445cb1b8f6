"""Inventory of 10,000 instances beside bare boto3 pagination of DescribeInstances.

The product also asks for the tags and volumes of the same instances: all are tagged,
and none has a volume of its own.
"""

from __future__ import annotations

import os
from pathlib import Path
from statistics import median
from typing import Any

import boto3

from billing.aws.inventory import ACCELERATOR_TYPES, Ec2FleetSource
from billing.aws.session import AwsClients
from tests.bench import ec2_server, million
from tests.bench.figures import Figure, Spent, interleaved, ratio, seconds, timed
from tests.bench.loopback import spawned
from tests.bench.product import CREDENTIALS

INSTANCES = 10_000
ROUNDS = 3
TIMES_AT_MOST = 1.25
ACCOUNT = "123456789012"


def measure(folder: Path) -> list[Figure]:
    """Read the same fleet with both, in turn."""
    del folder
    with spawned(ec2_server.__name__, INSTANCES) as url:
        os.environ.update(CREDENTIALS, AWS_ENDPOINT_URL=url)
        source = Ec2FleetSource(
            AwsClients(), [("", million.REGION)], job_tag_keys=["job-id"]
        )
        client = boto3.client("ec2", region_name=million.REGION, endpoint_url=url)
        own, bare = interleaved(
            lambda: _own(source), lambda: _bare(client), rounds=ROUNDS
        )
    name = f"inventory of {INSTANCES:,} instances"
    return [
        _figure(f"{name}, wall", [one.wall for one in own], [one.wall for one in bare]),
        _figure(f"{name}, CPU", [one.cpu for one in own], [one.cpu for one in bare]),
    ]


def _own(source: Ec2FleetSource) -> Spent:
    def work() -> None:
        found = source.observe(million.NOW)
        assert len(found.instances) == INSTANCES, found.failures

    return timed(work)


def _bare(client: Any) -> Spent:
    pages = client.get_paginator("describe_instances")
    only = [{"Name": "instance-type", "Values": list(ACCELERATOR_TYPES)}]

    def work() -> None:
        count = sum(
            len(reservation["Instances"])
            for page in pages.paginate(
                Filters=only, PaginationConfig={"PageSize": ec2_server.PAGE}
            )
            for reservation in page["Reservations"]
        )
        assert count == INSTANCES, count

    return timed(work)


def _figure(name: str, own: list[float], bare: list[float]) -> Figure:
    ratios = ratio(own, bare)
    return Figure(
        name=name,
        own=seconds(median(own)),
        baseline=f"boto3 paging {seconds(median(bare))}",
        ratio=ratios,
        target=f"<= {TIMES_AT_MOST}x",
        is_met=ratios[0] <= TIMES_AT_MOST,
    )
