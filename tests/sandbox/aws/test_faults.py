"""Faults, named failures and the recording of requests."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ReadTimeoutError,
)

from deploy.sandbox.aws import AwsSandbox, World
from deploy.sandbox.aws.builders import cost
from deploy.sandbox.aws.world import Account, CostTag
from tests.sandbox.aws.calls import BY_TEAM, refused, spend, total, totals
from tests.sandbox.aws.conftest import Serve

ML = "012345678901"
ONE_DAY = World(costs=[cost("2026-04-10", "5")])


def describe(sandbox: AwsSandbox, **client: Any) -> Any:
    return sandbox.client("ec2", **client).describe_instances()


@pytest.mark.parametrize(
    ("service", "call", "codes"),
    [
        (
            "ce",
            spend,
            (
                "LimitExceededException",
                "AccessDeniedException",
                "ExpiredTokenException",
            ),
        ),
        (
            "ec2",
            describe,
            ("RequestLimitExceeded", "UnauthorizedOperation", "RequestExpired"),
        ),
        (
            "s3",
            lambda s: s.client("s3").list_buckets(),
            ("SlowDown", "AccessDenied", "ExpiredToken"),
        ),
        (
            "pricing",
            lambda s: s.client("pricing").describe_services(),
            ("ThrottlingException", "AccessDeniedException", "ExpiredTokenException"),
        ),
        (
            "savingsplans",
            lambda s: s.client("savingsplans").describe_savings_plans(),
            ("ThrottlingException", "AccessDeniedException", "ExpiredTokenException"),
        ),
        (
            "cloudwatch",
            lambda s: s.client("cloudwatch").list_metrics(),
            ("ThrottlingException", "AccessDeniedException", "ExpiredTokenException"),
        ),
        (
            "iam",
            lambda s: s.client("iam").list_users(),
            ("Throttling", "AccessDenied", "ExpiredToken"),
        ),
    ],
)
def test_each_service_refuses_in_its_own_words(
    serve: Serve,
    service: str,
    call: Callable[[AwsSandbox], Any],
    codes: tuple[str, str, str],
) -> None:
    sandbox = serve(ONE_DAY)
    seen = []
    for kind in ("throttle", "deny", "expired-token"):
        sandbox.faults.add(kind=kind, service=service, times=1)
        seen.append(refused(lambda: call(sandbox))[0])

    assert tuple(seen) == codes
    assert call(sandbox)


def test_a_throttled_call_is_retried_by_a_standard_client(serve: Serve) -> None:
    # C019
    sandbox = serve(ONE_DAY)
    sandbox.faults.add(kind="throttle", service="ce", times=2)
    client = sandbox.client("ce", retries={"total_max_attempts": 3, "mode": "standard"})

    client.list_cost_allocation_tags()

    seen = [r.error_code for r in sandbox.requests]
    assert seen == ["LimitExceededException", "LimitExceededException", None]
    assert sandbox.requests.count("ListCostAllocationTags") == 3


def test_a_share_of_the_calls_fails_repeatably(serve: Serve) -> None:
    sandbox = serve(ONE_DAY)
    sandbox.faults.add(kind="fail", service="ce", percent=30, status=503)

    for _ in range(40):
        with contextlib.suppress(ClientError):
            spend(sandbox)

    failed = sum(1 for r in sandbox.requests if r.status == 503)
    assert 4 <= failed <= 20


def test_skipped_calls_pass_before_the_fault(serve: Serve) -> None:
    sandbox = serve(ONE_DAY)
    sandbox.faults.add(kind="fail", skip=1, times=1)

    assert spend(sandbox)
    assert refused(lambda: spend(sandbox))[0] == "InternalFailure"
    assert spend(sandbox)


def test_a_fault_hits_one_region_or_one_account(serve: Serve) -> None:
    sandbox = serve(World(accounts=[Account(id="123456789012"), Account(id=ML)]))
    sandbox.faults.add(kind="deny", region="eu-west-1", code="AuthFailure", status=401)
    sandbox.faults.add(kind="deny", service="ec2", account=ML)

    assert describe(sandbox)
    assert refused(lambda: describe(sandbox, region="eu-west-1"))[0] == "AuthFailure"
    assert refused(lambda: describe(sandbox, account=ML))[0] == "UnauthorizedOperation"


def test_a_truncated_answer_parses_as_an_empty_success(serve: Serve) -> None:
    # C158: this is what the product has to notice
    sandbox = serve(ONE_DAY)
    sandbox.faults.add(kind="truncate", operation="GetCostAndUsage", times=1)

    assert "ResultsByTime" not in spend(sandbox)
    assert total(spend(sandbox)) == "5"


def test_connections_are_cut_and_dropped(serve: Serve) -> None:
    sandbox = serve(ONE_DAY)
    # botocore takes half a body for a whole one
    sandbox.faults.add(kind="cut", times=1)
    assert "ResultsByTime" not in spend(sandbox)

    sandbox.faults.add(kind="drop", times=1)
    with pytest.raises(ConnectionClosedError):
        spend(sandbox)

    assert total(spend(sandbox)) == "5"


def test_a_delay_outlasts_an_impatient_client(serve: Serve) -> None:
    sandbox = serve(ONE_DAY)
    sandbox.faults.add(kind="delay", seconds=0.3, times=1)
    client = sandbox.client("ce", read_timeout=0.05)

    with pytest.raises(ReadTimeoutError):
        client.list_cost_allocation_tags()


def teams() -> World:
    costs = [cost("2026-04-10", "1", tags={"team": f"t{n}"}) for n in range(3)]
    return World(costs=costs, tags=[CostTag(key="team")], page_size=2)


def test_a_repeated_token_leads_to_the_same_page(serve: Serve) -> None:
    sandbox = serve(teams())
    sandbox.faults.add(kind="repeat-token", operation="GetCostAndUsage")

    first = spend(sandbox, GroupBy=BY_TEAM)
    token = first["NextPageToken"]
    second = spend(sandbox, GroupBy=BY_TEAM, NextPageToken=token)

    assert second["NextPageToken"] == token
    assert totals(second) == totals(first)


def test_endless_tokens_never_end(serve: Serve) -> None:
    sandbox = serve(teams())
    sandbox.faults.add(kind="endless-token", operation="GetCostAndUsage")

    tokens = [spend(sandbox, GroupBy=BY_TEAM)["NextPageToken"]]
    for _ in range(3):
        answer = spend(sandbox, GroupBy=BY_TEAM, NextPageToken=tokens[-1])
        tokens.append(answer["NextPageToken"])

    assert len(set(tokens)) == 4


def test_data_can_change_between_pages(serve: Serve) -> None:
    sandbox = serve(teams())
    late = cost("2026-04-10", "50", tags={"team": "t2"})
    sandbox.faults.add(kind="change-data", skip=1, times=1, costs=[late])

    first = spend(sandbox, GroupBy=BY_TEAM)
    second = spend(sandbox, GroupBy=BY_TEAM, NextPageToken=first["NextPageToken"])

    assert totals(second) == [{"team$t2": "51"}]


UNWRITTEN: list[tuple[str, Callable[[AwsSandbox], Any]]] = [
    ("ec2", lambda s: s.client("ec2").describe_mac_hosts()),
    ("ce", lambda s: s.client("ce").get_anomaly_monitors()),
    (
        "pricing",
        lambda s: s.client("pricing").list_price_lists(
            ServiceCode="AmazonEC2", EffectiveDate=datetime.now(UTC), CurrencyCode="USD"
        ),
    ),
    (
        "savingsplans",
        lambda s: s.client("savingsplans").return_savings_plan(savingsPlanId="sp-1"),
    ),
    (
        "s3",
        lambda s: s.client("s3").get_bucket_metadata_table_configuration(Bucket="b"),
    ),
    ("sagemaker", lambda s: s.client("sagemaker").list_edge_packaging_jobs()),
    ("iam", lambda s: s.client("iam").get_organizations_access_report(JobId="x" * 36)),
    (
        "organizations",
        lambda s: s.client("organizations").list_handshakes_for_account(),
    ),
    ("resource-explorer-2", lambda s: s.client("resource-explorer-2").list_views()),
]


@pytest.mark.parametrize(("service", "call"), UNWRITTEN, ids=[u[0] for u in UNWRITTEN])
def test_an_operation_nobody_wrote_is_a_named_and_recorded_failure(
    serve: Serve, service: str, call: Callable[[AwsSandbox], Any]
) -> None:
    sandbox = serve(World())

    code, message = refused(lambda: call(sandbox))

    recorded = sandbox.requests[-1]
    assert (code, recorded.status) == ("NotImplementedInSandbox", 501)
    assert recorded.service == service
    assert recorded.operation in message


def test_requests_are_recorded_with_their_parameters(serve: Serve) -> None:
    sandbox = serve(World(accounts=[Account(id="123456789012"), Account(id=ML)]))

    sandbox.client("ec2", region="us-west-2").describe_instances(MaxResults=5)
    spend(sandbox)

    first, second = list(sandbox.requests)
    assert (first.service, first.operation, first.region, first.account) == (
        "ec2",
        "DescribeInstances",
        "us-west-2",
        "123456789012",
    )
    assert first.parameters == {"MaxResults": 5}
    assert second.parameters["Granularity"] == "DAILY"
    assert sandbox.requests.counts() == {
        "ce:GetCostAndUsage": 1,
        "ec2:DescribeInstances": 1,
    }
