"""Commitments, objects, identity and sessions over the AWS double."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from billing.aws.commitments import CostExplorerCommitments
from billing.aws.identity import (
    read_caller,
    try_payer_permissions,
    try_permissions,
)
from billing.aws.objects import S3ObjectSource
from billing.aws.organizations import read_organisation
from billing.aws.permissions import READ_PERMISSIONS
from billing.aws.session import AwsClients
from billing.ports import CommitmentFacts, SourceUnavailableError, StoredObject
from deploy.sandbox.aws.world import (
    Account,
    CommitmentDay,
    ObjectSeed,
    SavingsPlanSeed,
)
from tests.builders import usd
from tests.contract.sources.aws import MEMBER, NOW, PAYER, Aws, on

MADE = NOW - timedelta(days=2)


# ------------------------------------------------------------------- commitments


def facts(aws: Aws, *families: str) -> list[CommitmentFacts]:
    source = CostExplorerCommitments(aws.clients(), clock=lambda: NOW)
    return list(source.facts(families or ("p5",), on("2026-04-01"), on("2026-04-30")))


def plan_day(text: str, covered: str, uncovered: str) -> CommitmentDay:
    return CommitmentDay(
        day=on(text),
        kind="savings-plan",
        committed="100",
        used="75",
        on_demand_equivalent=covered,
        uncovered=uncovered,
    )


def test_coverage_is_the_ratio_of_sums_over_every_day(aws: Aws) -> None:  # C086
    aws.serve(
        commitments=[
            plan_day("2026-04-01", "360", "360"),
            plan_day("2026-04-02", "240", "0"),
        ]
    )

    (p5,) = facts(aws)

    assert (p5.covered, p5.eligible) == (usd("600"), usd("960"))
    assert p5.utilization_pct == 75.0


def test_the_period_ends_today_at_the_latest(aws: Aws) -> None:  # C007
    sandbox = aws.serve(commitments=[plan_day("2026-04-01", "1", "1")])

    (p5,) = facts(aws)

    assert p5.until == on("2026-04-14")
    ends = {
        request.parameters["TimePeriod"]["End"]
        for request in sandbox.requests
        if request.service == "ce"
    }
    assert ends == {"2026-04-14"}


def test_a_family_without_data_is_left_out(aws: Aws) -> None:  # C085
    aws.serve(commitments=[plan_day("2026-04-01", "1", "1")])

    assert [one.family for one in facts(aws, "p5", "trn1")] == ["p5"]


def test_no_commitments_is_unknown_utilisation_and_no_coverage(aws: Aws) -> None:
    aws.serve()

    assert facts(aws) == []


def test_plans_are_told_with_their_end_and_only_active_ones(aws: Aws) -> None:
    def owned(name: str, days: int, **values: str) -> SavingsPlanSeed:
        start = NOW - timedelta(days=300)
        return SavingsPlanSeed(
            id=name, start=start, end=NOW + timedelta(days=days), commitment="12.5",
            **values,  # type: ignore[arg-type] # texts only
        )  # fmt: skip

    family = {"type": "EC2Instance", "family": "p5", "region": "us-east-1"}
    aws.serve(
        savings_plans=[owned("sp-2", 40, **family), owned("sp-1", 7), owned("sp-0", -1)]
    )

    first, second = CostExplorerCommitments(aws.clients(), clock=lambda: NOW).plans()

    assert (first.plan_id, first.family, first.ends_at) == (
        "sp-1",
        "",
        NOW + timedelta(days=7),
    )
    assert (second.kind, second.family, second.hourly) == (
        "EC2Instance",
        "p5",
        usd("12.5"),
    )


# ----------------------------------------------------------------------- objects


def listed(aws: Aws, prefix: str) -> list[StoredObject]:
    source = S3ObjectSource(aws.clients())
    return [one for page in source.objects("models", prefix) for one in page]


def stored(*keys: str) -> list[ObjectSeed]:
    return [
        ObjectSeed(
            bucket="models",
            key=key,
            modified_at=MADE,
            text="" if key.endswith("/") else "x",
        )
        for key in keys
    ]


def test_keys_are_what_s3_holds_letter_by_letter(aws: Aws) -> None:  # C081
    keys = ["ckpt/a%2Fb.pt", "ckpt/a/b.pt", "ckpt/step 9+1/é.pt", "ckpt/😀.pt"]
    aws.serve(objects=stored(*keys))

    assert [one.key for one in listed(aws, "ckpt/")] == keys


def test_a_sibling_prefix_is_not_listed(aws: Aws) -> None:  # C077
    aws.serve(objects=stored("ckpt/run-1/a.pt", "ckpt/run-10/a.pt"))

    assert [one.key for one in listed(aws, "ckpt/run-1/")] == ["ckpt/run-1/a.pt"]


def test_a_folder_marker_is_one_object_of_size_zero(aws: Aws) -> None:  # C084
    aws.serve(objects=stored("ckpt/run-3/", "ckpt/run-3/step-10/model.pt"))

    sizes = {one.key: one.size_bytes for one in listed(aws, "ckpt/run-3/")}

    assert sizes == {"ckpt/run-3/": 0, "ckpt/run-3/step-10/model.pt": 1}


def test_more_than_a_page_is_listed_and_each_request_priced(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    aws.serve(objects=stored(*(f"ckpt/{n:03d}" for n in range(25))))
    monkeypatch.setattr("billing.aws.objects.PAGE_SIZE", 10)

    assert len(listed(aws, "ckpt/")) == 25
    assert aws.charged == [("s3:ListObjectVersions", usd("0.000005"))] * 3


def test_a_missing_bucket_is_a_failure_and_no_empty_list(aws: Aws) -> None:
    aws.serve()

    with pytest.raises(SourceUnavailableError) as caught:
        listed(aws, "ckpt/")

    assert caught.value.cause == "NoSuchBucket"


# ------------------------------------------------------- identity and permissions


def test_the_caller_and_the_clock_of_aws_are_told(aws: Aws) -> None:
    aws.serve()

    caller = read_caller(aws.clients(), datetime.now(UTC) - timedelta(minutes=5))

    assert caller.account == PAYER
    assert caller.skew_s == pytest.approx(300, abs=30)


def test_active_accounts_of_the_organisation_keep_their_zeros(aws: Aws) -> None:
    aws.serve(accounts=[Account(id=MEMBER), Account(id="1" * 12, status="SUSPENDED")])

    assert read_organisation(aws.clients()).active == (MEMBER, PAYER)


def test_another_account_is_read_through_its_role_and_the_own_without(aws: Aws) -> None:
    sandbox = aws.serve(accounts=[Account(id=MEMBER)])
    clients = aws.clients()

    for account in (PAYER, MEMBER, MEMBER):
        clients.client("ec2", account=account).describe_instances()

    assert [one.account for one in sandbox.requests.of("DescribeInstances")] == [
        PAYER,
        MEMBER,
        MEMBER,
    ]
    (assumed,) = sandbox.requests.of("AssumeRole")
    assert assumed.parameters["RoleArn"] == f"arn:aws:iam::{MEMBER}:role/gpucost-read"


def test_another_account_without_a_role_is_refused_with_what_to_set(aws: Aws) -> None:
    aws.serve()

    with pytest.raises(SourceUnavailableError, match=r"aws\.assume_role"):
        AwsClients().client("ec2", account=MEMBER)


def test_a_client_is_made_once(aws: Aws) -> None:
    aws.serve()
    clients = aws.clients()

    assert clients.client("ec2") is clients.client("ec2", region="us-east-1")


def test_missing_permissions_are_found_by_trying(aws: Aws) -> None:
    sandbox = aws.serve()
    sandbox.faults.add(kind="deny", operation="DescribeVolumes")

    trials = [
        *try_permissions(aws.clients(), PAYER, "us-east-1"),
        *try_payer_permissions(aws.clients()),
    ]

    refused = [one.permission for one in trials if one.is_allowed is False]
    assert refused == ["ec2:DescribeVolumes"]
    assert all(one.is_allowed for one in trials if one.permission not in refused)


def test_permissions_only_read() -> None:
    verbs = {one.partition(":")[2] for one in READ_PERMISSIONS}

    reading = ("Get", "List", "Describe")
    # Entering a read role, and emptying gpucost's own queue of events.
    assert {v for v in verbs if not v.startswith(reading)} == {
        "AssumeRole",
        "DeleteMessage",
        "ReceiveMessage",
    }
