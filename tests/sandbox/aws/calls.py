"""Short calls through real boto3 clients, shared by the tests of the AWS double."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from deploy.sandbox.aws import AwsSandbox

DAY = {"Start": "2026-04-10", "End": "2026-04-11"}
BY_TEAM = [{"Type": "TAG", "Key": "team"}]


def spend(sandbox: AwsSandbox, **changes: Any) -> Any:
    client = sandbox.client("ce", parameter_validation=False)
    params = {
        "TimePeriod": DAY,
        "Granularity": "DAILY",
        "Metrics": ["UnblendedCost"],
    }
    return client.get_cost_and_usage(**(params | changes))


def totals(answer: Any) -> list[dict[str, str]]:
    """Return the amount of each group, one dictionary for each period."""
    return [
        {
            "|".join(group["Keys"]): group["Metrics"]["UnblendedCost"]["Amount"]
            for group in result["Groups"]
        }
        for result in answer["ResultsByTime"]
    ]


def total(answer: Any) -> str:
    return str(answer["ResultsByTime"][0]["Total"]["UnblendedCost"]["Amount"])


def refused(call: Callable[[], Any]) -> tuple[str, str]:
    """Return the code and text of the error that a call ends in."""
    with pytest.raises(ClientError) as caught:
        call()
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]


def raw_call(sandbox: AwsSandbox, body: object) -> tuple[int, Any]:
    """Send a GetCostAndUsage body as it is; return the status and the answer."""
    request = urllib.request.Request(  # noqa: S310
        sandbox.endpoint_url,
        data=json.dumps(body).encode(),
        headers={
            "X-Amz-Target": "AWSInsightsIndexService.GetCostAndUsage",
            "Authorization": "AWS4-HMAC-SHA256 Credential="
            "AKIAEXAMPLE/20260414/us-east-1/ce/aws4_request",
        },
    )
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)
