"""Pods with GPUs, from answers in the shape that kube-state-metrics gives them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from billing.ports import SourceUnavailableError
from billing.prometheus import PodQuestion, Prometheus, pod_placements
from billing.prometheus.client import BadPrometheusUrlError
from tests.builders import NOW
from tests.fakes.prometheus import PrometheusDouble, prometheus_double

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_TIME = b"""{"status": "success", "data": {"result":
  [{"metric": {}, "value": ["NaN", "1"]}]}}"""
POD = {"namespace": "ml", "pod": "bert-0", "uid": "u-1"}
NODE = "ip-10-0-1-2.ec2.internal"


@pytest.fixture
def double() -> Iterator[PrometheusDouble]:
    with prometheus_double() as one:
        one.series["kube_node_info"] = [
            vector({"node": NODE, "provider_id": "aws:///us-east-1a/i-0a1"})
        ]
        yield one


def seconds(minutes_ago: float) -> float:
    return (NOW - timedelta(minutes=minutes_ago)).timestamp()


def vector(labels: dict[str, str], value: str = "1") -> dict[str, Any]:
    return {"metric": labels, "value": [NOW.timestamp(), value]}


def held(
    start: int = 60, end: int = 0, *, gpus: str = "2", **labels: str
) -> dict[str, Any]:
    """Make the samples of a pod, a minute apart, between minutes ago."""
    return {
        "metric": POD | {"node": NODE} | labels,
        "values": [[seconds(ago), gpus] for ago in range(start, end - 1, -1)],
    }


def ask(double: PrometheusDouble, **question: Any) -> Any:
    return pod_placements(Prometheus(double.url), NOW, PodQuestion(**question))


def test_a_running_pod_is_a_placement_on_its_instance(
    double: PrometheusDouble,
) -> None:
    double.series["sum by"] = [held()]
    double.series["kube_pod_labels"] = [vector(POD | {"label_job_id": "Job-7"})]
    double.series["kube_pod_start_time"] = [vector(POD, f"{seconds(600)}")]

    (one,) = ask(double).placements

    assert (one.job, one.resource_id, one.external_id) == ("job-7", "i-0a1", "u-1")
    assert (one.started_at, one.ended_at) == (NOW - timedelta(minutes=600), None)
    assert str(one.gpus) == "2"


def test_a_pod_whose_samples_stopped_has_ended(double: PrometheusDouble) -> None:
    double.series["sum by"] = [held(60, 30)]

    (one,) = ask(double).placements

    assert one.started_at == NOW - timedelta(minutes=60)
    assert one.ended_at == NOW - timedelta(minutes=29)


def test_a_pod_without_a_label_belongs_to_its_kubernetes_job(
    double: PrometheusDouble,
) -> None:
    double.series["sum by"] = [held(), held(pod="solo", uid="u-2")]
    double.series["kube_pod_owner"] = [
        vector(POD | {"owner_kind": "Job", "owner_name": "bert"})
    ]

    assert [one.job for one in ask(double).placements] == [
        "kubernetes/ml/bert",
        "kubernetes/ml/solo",
    ]


def test_the_label_that_names_the_job_is_configurable(
    double: PrometheusDouble,
) -> None:
    double.series["sum by"] = [held()]
    double.series["kube_pod_labels"] = [
        vector(POD | {"label_example_com_run": "run-1"})
    ]

    found = ask(double, job_label="example.com/run").placements

    assert [one.job for one in found] == ["run-1"]


def test_a_pod_on_a_node_that_is_no_instance_is_told(double: PrometheusDouble) -> None:
    double.series["sum by"] = [held(node="fargate-1")]

    found = ask(double)

    assert (found.placements, found.unplaced) == ((), ("ml/bert-0",))


def test_pods_without_gpus_or_with_nonsense_hold_nothing(
    double: PrometheusDouble,
) -> None:
    double.series["sum by"] = [held(gpus="0"), held(gpus="NaN"), held(gpus="+Inf")]

    assert ask(double).placements == ()


def test_the_question_is_bounded_in_time(double: PrometheusDouble) -> None:
    ask(double, window=timedelta(hours=1))

    over = double.asked[0]
    assert over["path"] == "/api/v1/query_range"
    assert float(over["end"]) - float(over["start"]) == 3600
    assert float(over["step"]) == 60
    assert all("[3600s]" in one["query"] for one in double.asked[1:])


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ((503, b"down"), "answered 503"),
        ((200, b"<html>"), "something else"),
        ((200, b"[]"), "something else"),
        ((200, b'{"status": "success", "data": {"result": [1]}}'), "something else"),
        ((200, _NO_TIME), "something else"),
        ((200, b'{"status": "error", "error": "parse error"}'), "parse error"),
        ((302, b"http://127.0.0.1:1/"), "answered 302"),
    ],
)
def test_an_answer_that_is_none_is_a_failure_not_an_empty_cluster(
    double: PrometheusDouble, raw: tuple[int, bytes], reason: str
) -> None:
    double.raw = raw

    with pytest.raises(SourceUnavailableError, match=reason):
        ask(double)


def test_a_server_that_is_not_there_is_a_failure() -> None:
    with prometheus_double() as gone:
        url = gone.url

    with pytest.raises(SourceUnavailableError, match="could not be asked"):
        pod_placements(Prometheus(url), NOW)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "prometheus:9090", "http://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(BadPrometheusUrlError):
        Prometheus(url)
