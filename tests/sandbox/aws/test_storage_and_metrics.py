"""S3, CloudWatch, SQS and SageMaker through real clients."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from deploy.sandbox.aws import AwsSandbox, World
from deploy.sandbox.aws.builders import gpu_utilisation, instant
from deploy.sandbox.aws.world import ObjectSeed
from tests.sandbox.aws.calls import refused
from tests.sandbox.aws.conftest import NOW, Serve


def test_objects_have_the_worlds_size_time_and_tags(serve: Serve) -> None:
    seed = ObjectSeed(
        bucket="models",
        key="job-1/checkpoints/step-100/w.pt",
        modified_at=instant("2026-04-01"),
        size=10**12,
        tags={"keep": "yes"},
    )
    client = serve(World(objects=[seed])).client("s3")

    found = client.list_objects_v2(Bucket="models", Prefix="job-1/")["Contents"][0]
    tags = client.get_object_tagging(Bucket="models", Key=seed.key)["TagSet"]

    assert (found["Size"], found["LastModified"]) == (10**12, instant("2026-04-01"))
    assert tags == [{"Key": "keep", "Value": "yes"}]


def query(dimensions: dict[str, str], **stat: Any) -> dict[str, Any]:
    metric = {
        "Namespace": "CWAgent",
        "MetricName": "nvidia_smi_utilization_gpu",
        "Dimensions": [{"Name": n, "Value": v} for n, v in dimensions.items()],
    }
    return {
        "Id": "q0",
        "MetricStat": {"Metric": metric, "Period": 300, "Stat": "Average"} | stat,
    }


def values(sandbox: AwsSandbox, *queries: Any) -> list[list[float]]:
    answer = sandbox.client("cloudwatch").get_metric_data(
        StartTime=instant("2026-04-14T05:00"),
        EndTime=instant("2026-04-14T07:00"),
        MetricDataQueries=list(queries),
    )
    return [item["Values"] for item in answer["MetricDataResults"]]


def test_metrics_match_their_exact_dimensions_and_hide_the_future(
    serve: Serve,
) -> None:
    series = gpu_utilisation("i-0aaa", [1, 3, 5, 7], start="2026-04-14T05:50:00", gpu=0)
    sandbox = serve(World(metrics=[series]))
    listed = sandbox.client("cloudwatch").list_metrics(Namespace="CWAgent")["Metrics"]

    exact = values(sandbox, query(dict(series.dimensions)))
    coarse = values(sandbox, query(dict(series.dimensions), Period=600, Stat="Maximum"))
    partial = values(sandbox, query({"InstanceId": "i-0aaa"}))

    assert len(listed) == 1
    assert exact == [[5.0, 3.0, 1.0]]
    assert coarse == [[5.0, 3.0]]
    assert partial == [[]]


def test_put_metrics_are_read_back(serve: Serve) -> None:
    sandbox = serve(World())
    client = sandbox.client("cloudwatch")
    client.put_metric_data(
        Namespace="CWAgent",
        MetricData=[
            {
                "MetricName": "nvidia_smi_utilization_gpu",
                "Dimensions": [{"Name": "InstanceId", "Value": "i-1"}],
                "Timestamp": instant("2026-04-14T05:10"),
                "Value": 42.0,
                "Unit": "Percent",
            }
        ],
    )

    assert values(sandbox, query({"InstanceId": "i-1"})) == [[42.0]]
    points = client.get_metric_statistics(
        Namespace="CWAgent",
        MetricName="nvidia_smi_utilization_gpu",
        Dimensions=[{"Name": "InstanceId", "Value": "i-1"}],
        StartTime=instant("2026-04-14T05:00"),
        EndTime=instant("2026-04-14T06:00"),
        Period=300,
        Statistics=["Maximum"],
    )["Datapoints"]
    assert [(p["Maximum"], p["Unit"]) for p in points] == [(42.0, "Percent")]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (query({}) | {"Id": "Q"}, "ValidationError"),
        (query({}, Period=90), "ValidationError"),
        (query({}, Stat="Median"), None),
        ({"Id": "q0", "Expression": "SUM(METRICS())"}, "NotImplementedInSandbox"),
    ],
)
def test_wrong_metric_queries_are_refused(
    serve: Serve, asked: dict[str, Any], code: str | None
) -> None:
    sandbox = serve(World())

    if code is None:
        assert values(sandbox, asked) == [[]]
    else:
        assert refused(lambda: values(sandbox, asked))[0] == code


def test_a_long_poll_does_not_hold_other_calls_up(serve: Serve) -> None:
    sandbox = serve(World())
    queues = sandbox.client("sqs")
    url = queues.create_queue(QueueName="states")["QueueUrl"]
    found: list[Any] = []
    poll = threading.Thread(
        target=lambda: found.append(
            queues.receive_message(QueueUrl=url, WaitTimeSeconds=5)
        )
    )
    poll.start()

    listed = sandbox.client("ec2").describe_instances()["Reservations"]
    queues.send_message(QueueUrl=url, MessageBody="state change")
    poll.join()

    assert listed == []
    assert found[0]["Messages"][0]["Body"] == "state change"


def test_objects_are_written_and_read_back(serve: Serve) -> None:
    client = serve(World()).client("s3")
    client.create_bucket(Bucket="exports")

    client.put_object(Bucket="exports", Key="a/b c.csv", Body=b"x" * 70_000)
    head = client.head_object(Bucket="exports", Key="a/b c.csv")
    body = client.get_object(Bucket="exports", Key="a/b c.csv")["Body"].read()

    assert head["ContentLength"] == 70_000
    assert head["LastModified"] == instant(NOW)
    assert body == b"x" * 70_000


def test_training_jobs_are_kept_by_moto(serve: Serve) -> None:
    client = serve(World()).client("sagemaker")

    assert client.list_training_jobs()["TrainingJobSummaries"] == []
