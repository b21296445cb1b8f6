"""CloudWatch as a source of signals: what was published, gaps left open."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from billing.aws.metrics import CloudWatchMetricSource
from billing.core.periods import Period
from billing.ports import MetricSeries
from deploy.sandbox.aws.builders import gpu_utilisation
from deploy.sandbox.aws.world import MetricSeed
from tests.builders import usd
from tests.contract.sources.aws import NOW, PAYER, Aws

ONE, TWO = "i-00000000000000001", "i-00000000000000002"
START = NOW - timedelta(hours=1)
WINDOW = Period(START, NOW)
STEP = timedelta(minutes=5)


def read(aws: Aws, *ids: str) -> dict[tuple[str, str, str], MetricSeries]:
    wanted = [(PAYER, "us-east-1", one) for one in ids or (ONE,)]
    series, failures = CloudWatchMetricSource(aws.clients()).series(wanted, WINDOW)
    assert not failures
    return {(one.resource_id, one.signal, one.part): one for one in series}


def published(
    name: str,
    values: list[float],
    *,
    namespace: str = "AWS/EC2",
    start: datetime = START,
    **dimensions: str,
) -> MetricSeed:
    return MetricSeed(
        namespace=namespace,
        name=name,
        dimensions={"InstanceId": ONE} | dimensions,
        points=[(start + STEP * n, value) for n, value in enumerate(values)],
        unit="Bytes",
    )


def test_each_gpu_of_asked_instances_is_a_series(aws: Aws) -> None:
    start = START.isoformat()
    aws.serve(
        metrics=[
            gpu_utilisation(ONE, [95, 96], start=start, gpu=0),
            gpu_utilisation(ONE, [0, 0], start=start, gpu=1),
            gpu_utilisation(TWO, [50], start=start),
        ]
    )

    found = read(aws, ONE)

    assert sorted(found) == [
        (ONE, "gpu_utilization", "0"),
        (ONE, "gpu_utilization", "1"),
    ]
    assert [value for _, value in found[ONE, "gpu_utilization", "0"].points] == [95, 96]


def test_no_datapoints_is_no_series(aws: Aws) -> None:  # C054
    aws.serve(metrics=[published("CPUUtilization", [41.0])])

    assert sorted(read(aws)) == [(ONE, "cpu_utilization", "")]


def test_a_gap_stays_a_gap(aws: Aws) -> None:  # C055
    seed = published("CPUUtilization", [1.0, 2.0, 3.0])
    seed.points.pop(1)
    aws.serve(metrics=[seed])

    points = read(aws)[ONE, "cpu_utilization", ""].points

    assert [at for at, _ in points] == [START, START + 2 * STEP]


def test_network_is_bytes_a_second_in_both_directions(aws: Aws) -> None:
    aws.serve(
        metrics=[
            published("NetworkIn", [300.0, 600.0]),
            published("NetworkOut", [3000.0]),
        ]
    )

    (series,) = read(aws).values()

    assert (series.signal, series.points) == ("network", ((START, 11.0),))


def test_memory_is_the_used_share(aws: Aws) -> None:
    agent = "CWAgent"
    aws.serve(
        metrics=[
            published("nvidia_smi_memory_used", [2e4], namespace=agent, index="0"),
            published("nvidia_smi_memory_total", [8e4], namespace=agent, index="0"),
        ]
    )

    (series,) = read(aws).values()

    assert (series.signal, series.part) == ("gpu_memory_used", "0")
    assert series.points == ((START, 25.0),)


def test_requests_are_priced_by_the_metrics_they_ask_for(aws: Aws) -> None:
    aws.serve()

    read(aws)

    charged = [cost for what, cost in aws.charged if what.endswith("GetMetricData")]
    assert charged == [usd("0.00005")]
    listed = [cost for what, cost in aws.charged if what.endswith("ListMetrics")]
    assert set(listed) == {usd("0.00001")}


def test_many_metrics_are_asked_for_in_batches(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = START.isoformat()
    sandbox = aws.serve(
        metrics=[gpu_utilisation(ONE, [n], start=start, gpu=n) for n in range(8)]
    )
    monkeypatch.setattr("billing.aws.metrics.BATCH_SIZE", 5)

    found = read(aws)

    assert len(found) == 8
    assert sandbox.requests.count("GetMetricData") == 3


def test_a_refused_region_is_named_and_the_other_kept(aws: Aws) -> None:
    sandbox = aws.serve(metrics=[published("CPUUtilization", [41.0])])
    sandbox.faults.add(kind="deny", service="cloudwatch", region="us-west-2")
    wanted = [(PAYER, "us-east-1", ONE), (PAYER, "us-west-2", TWO)]

    series, failures = CloudWatchMetricSource(aws.clients()).series(wanted, WINDOW)

    assert [one.resource_id for one in series] == [ONE]
    assert [(one.region, one.code) for one in failures] == [
        ("us-west-2", "AccessDeniedException")
    ]
