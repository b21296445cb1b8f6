"""Findings of AWS Cost Anomaly Detection, as AWS answers them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from billing.aws.anomalies import CostAnomalyDetection
from billing.ports import IncompleteAnswerError, SourceUnavailableError
from deploy.sandbox.aws.world_anomalies import AnomalySeed
from tests.builders import usd
from tests.contract.sources.aws import NOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from billing.ports.anomalies import AwsAnomaly
    from tests.contract.sources.aws import Aws

TODAY = NOW.date()
TOMORROW = TODAY + timedelta(days=1)


def ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def read(aws: Aws, since: date) -> Sequence[AwsAnomaly]:
    return CostAnomalyDetection(aws.clients()).anomalies(since, TOMORROW)


def test_a_finding_tells_what_it_cost_where(aws: Aws) -> None:
    aws.serve(
        anomalies=[
            AnomalySeed(
                id="a-1", since=ago(5), until=ago(4), impact=11.82, expected=0.27
            )
        ]
    )

    (found,) = read(aws, ago(30))

    assert (found.since, found.until) == (ago(5), ago(4))
    assert (found.impact, found.expected, found.actual) == (
        usd("11.82"), usd("0.27"), usd("12.09"),
    )  # fmt: skip
    assert found.service == "Amazon Elastic Compute Cloud - Compute"
    assert (found.region, found.usage_type) == ("us-east-1", "BoxUsage:p5.48xlarge")


def test_findings_that_go_on_have_no_end(aws: Aws) -> None:
    aws.serve(anomalies=[AnomalySeed(id="a-1", since=ago(1), impact=5.0)])

    (found,) = read(aws, ago(30))

    assert found.until is None


def test_only_what_ended_since_then_is_read(aws: Aws) -> None:
    aws.serve(
        anomalies=[
            AnomalySeed(id="old", since=ago(40), until=ago(31), impact=5.0),
            AnomalySeed(id="new", since=ago(40), until=ago(30), impact=5.0),
        ]
    )

    assert [one.anomaly_id for one in read(aws, ago(30))] == ["new"]


def test_every_page_is_read(aws: Aws) -> None:
    aws.serve(
        anomalies=[
            AnomalySeed(id=f"a-{n:03}", since=ago(3), until=ago(2), impact=1.0)
            for n in range(250)
        ]
    )

    assert len(read(aws, ago(30))) == 250


def test_further_back_than_aws_keeps_is_not_asked(aws: Aws) -> None:
    aws.serve(anomalies=[AnomalySeed(id="a", since=ago(3), until=ago(2), impact=1.0)])

    assert len(read(aws, ago(400))) == 1


def test_each_page_is_counted_as_a_request_to_cost_explorer(aws: Aws) -> None:
    aws.serve(anomalies=[])

    read(aws, ago(30))

    assert aws.charged == [("ce:GetAnomalies", usd("0.01"))]


def test_aws_that_cannot_be_asked_is_named(aws: Aws) -> None:
    sandbox = aws.serve()
    sandbox.faults.add(kind="deny", operation="GetAnomalies")

    with pytest.raises((SourceUnavailableError, IncompleteAnswerError)) as caught:
        read(aws, ago(30))

    assert "ce:GetAnomalies" in str(caught.value)
