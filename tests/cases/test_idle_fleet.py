"""Idle GPUs as CloudWatch and EC2 tell of them: through the whole application."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from deploy.sandbox.aws.builders import gpu_utilisation, instance
from deploy.sandbox.aws.world import MetricSeed
from tests.contract.sources.aws import NOW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deploy.sandbox.aws.world import InstanceSeed
    from tests.cases.place import Place

IDLE = """
- name: idle
  kind: idle
  signals: {gpu_utilization: "< 5%"}
  for: 30m
  steps: [warn, {after: 15m, do: stop}]
"""
STEP = timedelta(minutes=5)
QUIET, BUSY = 0.0, 96.0


def node(number: int, job: str = "", shape: str = "g5.xlarge", *, hours: float = 30.0,
         **fields: object) -> InstanceSeed:  # fmt: skip
    """Return one instance that has run for some hours."""
    launched = (NOW - timedelta(hours=hours)).isoformat()
    tags = {"job-id": job} if job else {}
    return instance(
        f"i-{number:017x}", shape, launched_at=launched, tags=tags, **fields
    )


def gpus(number: int, *values: float, samples: int = 30) -> list[MetricSeed]:
    """Return the newest samples of an instance, one steady value for each GPU."""
    start = (NOW - STEP * samples).isoformat()
    return [
        gpu_utilisation(f"i-{number:017x}", [value] * samples, start=start, gpu=index)
        for index, value in enumerate(values)
    ]


def cpu(number: int, value: float, samples: int = 30) -> MetricSeed:
    return MetricSeed(
        namespace="AWS/EC2",
        name="CPUUtilization",
        dimensions={"InstanceId": f"i-{number:017x}"},
        points=[(NOW - STEP * n, value) for n in range(samples, 0, -1)],
    )


def judged(
    place: Place, instances: Sequence[InstanceSeed], metrics: Sequence[MetricSeed]
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return clauses by job of what was found, and what was missing by job."""
    place.aws.serve(instances=[*instances], metrics=[*metrics])
    place.ingest("inventory")
    evaluation = place.plan(IDLE)
    return (
        {one.job: one.clause for one in evaluation.findings},
        {one.job: one.missing for one in evaluation.unknown},
    )


def test_what_cloudwatch_tells_decides_and_what_it_does_not_tell_is_unknown(
    place: Place,
) -> None:
    found, unknown = judged(
        place,
        [
            node(1, "no-gpu-metric"),  # C054
            node(2, "three-samples"),  # C055
            node(3, "busy-later"),  # C056
            node(4, "gpu-busy-cpu-idle"),  # C058
            node(5, "gpu-idle-cpu-busy"),
            node(6, "idle"),
            node(7, "just-booted", hours=0.2),  # C062
        ],
        [
            cpu(1, 41),
            *gpus(2, QUIET, samples=3),
            gpu_utilisation(
                f"i-{3:017x}", [0.4, 88, 91, 90, 87, 93],
                start=(NOW - 6 * STEP).isoformat(),
            ),
            *gpus(4, BUSY), cpu(4, 2),
            *gpus(5, QUIET), cpu(5, 85),
            *gpus(6, QUIET), cpu(6, 2),
            *gpus(7, QUIET, samples=2),
        ],
    )  # fmt: skip

    assert {job: clause.partition(":")[0] for job, clause in found.items()} == {
        "gpu-idle-cpu-busy": "idle, CPU busy",
        "idle": "idle",
    }
    assert unknown == {
        "no-gpu-metric": "gpu_utilization of 1 of 1 GPUs",
        "three-samples": "gpu_utilization of 1 of 1 GPUs",
    }


def test_one_busy_gpu_of_eight_keeps_its_host(place: Place) -> None:  # C060
    found, unknown = judged(
        place, [node(1, "llm-7", "p5.48xlarge")], gpus(1, 95, *[QUIET] * 7)
    )

    assert found == {"llm-7": "unused GPUs: gpu_utilization < 5%"}
    assert unknown == {}


def test_silent_ranks_belong_to_the_job_that_works(place: Place) -> None:  # C061
    ranks = [node(number, "llm-7") for number in (1, 2, 3, 4)]

    assert judged(place, ranks, gpus(1, 91)) == ({}, {})


# C063
@pytest.mark.parametrize(("minutes", "jobs"), [(10, []), (40, ["second"])])
def test_a_job_on_a_used_instance_has_its_own_idle_clock(
    place: Place, minutes: int, jobs: list[str]
) -> None:
    place.aws.serve(instances=[node(1, "first")], metrics=gpus(1, QUIET))
    place.at(NOW - timedelta(minutes=minutes + 5))
    place.ingest("inventory")
    ec2 = place.aws.sandbox.client("ec2")
    ec2.create_tags(
        Resources=[f"i-{1:017x}"], Tags=[{"Key": "job-id", "Value": "second"}]
    )
    place.at(NOW - timedelta(minutes=minutes))
    place.ingest("inventory")
    place.at(NOW)
    place.ingest("inventory")

    found = place.plan(IDLE).findings

    assert [one.job for one in found] == jobs


def test_a_region_that_is_closed_to_us_leaves_the_others_judged(  # C070
    place: Place,
) -> None:
    place.config["aws"] = {"regions": ["us-east-1", "us-west-2"]}
    place.aws.serve(instances=[node(1, "east"), node(2, "west", region="us-west-2")],
                    metrics=[*gpus(1, QUIET)])  # fmt: skip
    place.at(NOW - timedelta(hours=1))
    place.ingest("inventory")
    place.aws.sandbox.faults.add(kind="deny", service="ec2", region="us-west-2")
    place.at(NOW)

    failed = place.ingest("inventory").errors
    evaluation = place.plan(IDLE)

    assert {one.region for one in failed} == {"us-west-2"}
    assert [one.source for one in failed].count("inventory") == 1
    assert [one.job for one in evaluation.findings] == ["east"]
    assert [(one.job, one.missing) for one in evaluation.unknown] == [
        ("west", "fresh facts of 123456789012/us-west-2")
    ]
    running = {line.region: line.count for line in place.cost("west").running}
    assert running == {"us-west-2": 1}
