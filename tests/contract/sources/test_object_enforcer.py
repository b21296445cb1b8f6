"""Checkpoints over the AWS double: tagged where they are, deleted version by version."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from billing.aws.objects import S3ObjectSource
from billing.aws.session import AwsClients
from billing.ports import SourceUnavailableError
from bot.clock import system_now
from deploy.sandbox.aws.world import ObjectSeed
from policies.core.finding import Target
from policies.core.holding import target_of
from policies.core.locations import parse_location
from policies.core.object_actions import is_over, why_checkpoint_spared
from policies.core.retention import checkpoints_of
from policies.enforce.s3 import OBJECT_PERMISSIONS, S3Enforcer
from tests.contract.sources.aws import NOW, Aws

if TYPE_CHECKING:
    from policies.core.actions import Live

LOCATION = parse_location("s3://models/{job}/step-{step}/")
ROLE = "arn:aws:iam::{account}:role/gpucost-enforce"
#: Operations whose IAM action has another name when a version is named.
ACTIONS = {
    "s3:DeleteObjects": "s3:DeleteObjectVersion",
    "s3:GetObjectLockConfiguration": "s3:GetBucketObjectLockConfiguration",
    "s3:GetObjectTagging": "s3:GetObjectVersionTagging",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "s3:PutObjectTagging": "s3:PutObjectVersionTagging",
}


@pytest.fixture
def s3(aws: Aws) -> Any:
    """Return a client to a bucket with two checkpoints of one job and one of another."""
    keys = ("job-1/step-1/a.pt", "job-1/step-1/b c+é.pt", "job-1/step-10/a.pt",
            "job-10/step-1/a.pt")  # fmt: skip
    aws.serve(
        objects=[
            ObjectSeed(bucket="models", key=key, modified_at=NOW, text="x")
            for key in keys
        ]
    )
    return aws.sandbox.client("s3")


@pytest.fixture
def enforcer(aws: Aws) -> S3Enforcer:
    return S3Enforcer(AwsClients(role=ROLE, is_role_everywhere=True), system_now)


def step_one(aws: Aws) -> Target:
    pages = S3ObjectSource(aws.clients()).objects("models", "")
    found = checkpoints_of(LOCATION, [one for page in pages for one in page])
    return target_of(found["job-1"][0])


def keys(s3: Any) -> list[str]:
    answer = s3.list_object_versions(Bucket="models")
    return sorted(one["Key"] for one in answer.get("Versions", ()))


def spared(target: Target, live: Live, verb: str) -> str:
    return why_checkpoint_spared(target, live, verb=verb, now=NOW)


# C077, C081
def test_a_checkpoint_is_tagged_then_deleted_and_nothing_beside_it(
    aws: Aws, s3: Any, enforcer: S3Enforcer
) -> None:
    target = step_one(aws)
    assert spared(target, enforcer.look(target), "quarantine") == ""

    enforcer.act("quarantine", target)
    live = enforcer.look(target)
    assert is_over("quarantine", live)
    assert spared(target, live, "delete") == ""
    assert len(keys(s3)) == 4  # nothing moved

    enforcer.act("delete", target)
    assert is_over("delete", enforcer.look(target))
    assert keys(s3) == ["job-1/step-10/a.pt", "job-10/step-1/a.pt"]


# C078
def test_every_version_goes_so_that_storage_is_really_freed(
    aws: Aws, s3: Any, enforcer: S3Enforcer
) -> None:
    s3.put_bucket_versioning(
        Bucket="models", VersioningConfiguration={"Status": "Enabled"}
    )
    s3.put_object(Bucket="models", Key="job-1/step-1/a.pt", Body=b"newer")
    target = step_one(aws)

    enforcer.act("quarantine", target)
    enforcer.act("delete", target)

    answer = s3.list_object_versions(Bucket="models", Prefix="job-1/step-1/")
    assert (answer.get("Versions", []), answer.get("DeleteMarkers", [])) == ([], [])


def test_other_tags_of_an_object_survive_its_quarantine(
    aws: Aws, s3: Any, enforcer: S3Enforcer
) -> None:
    where = {"Bucket": "models", "Key": "job-1/step-1/a.pt"}
    tags = [{"Key": "team", "Value": "nlp"}]
    s3.put_object_tagging(**where, Tagging={"TagSet": tags})

    enforcer.act("quarantine", step_one(aws))

    found = s3.get_object_tagging(**where)["TagSet"]
    assert {one["Key"]: one["Value"] for one in found} == {
        "team": "nlp",
        "gpucost-quarantine": "true",
    }


def test_untagging_one_object_undoes_the_quarantine(
    aws: Aws, s3: Any, enforcer: S3Enforcer
) -> None:
    target = step_one(aws)
    enforcer.act("quarantine", target)
    s3.delete_object_tagging(Bucket="models", Key="job-1/step-1/a.pt")

    assert (
        spared(target, enforcer.look(target), "delete") == "its quarantine was undone"
    )
    with pytest.raises(SourceUnavailableError, match="not quarantined any more"):
        enforcer.act("delete", target)
    assert len(keys(s3)) == 4


@pytest.mark.parametrize("verb", ["quarantine", "delete"])
def test_whatever_was_written_there_since_spares_it(
    aws: Aws, s3: Any, enforcer: S3Enforcer, verb: str
) -> None:
    target = step_one(aws)
    enforcer.act("quarantine", target)
    s3.put_object(Bucket="models", Key="job-1/step-1/gpucost-keep", Body=b"")

    assert spared(target, enforcer.look(target), verb) == "it was changed since"
    with pytest.raises(SourceUnavailableError, match="changed since"):
        enforcer.act(verb, target)


@pytest.mark.parametrize(
    ("key", "text"),
    [("gpucost-keep", "true"), ("gpucost-lease-until", "2999-01-01T00:00:00Z")],
)
def test_a_keep_or_a_lease_put_on_it_meanwhile_spares_it(
    aws: Aws, s3: Any, enforcer: S3Enforcer, key: str, text: str
) -> None:
    target = step_one(aws)
    enforcer.act("quarantine", target)
    tags = [{"Key": "gpucost-quarantine", "Value": "true"}, {"Key": key, "Value": text}]
    s3.put_object_tagging(
        Bucket="models", Key="job-1/step-1/a.pt", Tagging={"TagSet": tags}
    )

    assert key.removesuffix("-until") in spared(
        target, enforcer.look(target), "delete"
    ) or ("leased until" in spared(target, enforcer.look(target), "delete"))


def test_a_bucket_that_locks_objects_loses_none(aws: Aws, enforcer: S3Enforcer) -> None:
    aws.serve()
    s3 = aws.sandbox.client("s3")
    s3.create_bucket(Bucket="models", ObjectLockEnabledForBucket=True)
    s3.put_object(Bucket="models", Key="job-1/step-1/a.pt", Body=b"x")
    target = step_one(aws)
    enforcer.act("quarantine", target)

    assert "locks objects" in spared(target, enforcer.look(target), "delete")


def test_when_s3_refuses_nothing_is_known(
    aws: Aws, s3: Any, enforcer: S3Enforcer
) -> None:
    target = step_one(aws)
    aws.sandbox.faults.add(kind="deny", operation="ListObjectVersions")

    with pytest.raises(SourceUnavailableError):
        enforcer.look(target)
    with pytest.raises(SourceUnavailableError):
        enforcer.act("delete", target)
    assert s3 is not None


def test_more_than_a_page_of_versions_is_one_checkpoint(
    aws: Aws, s3: Any, enforcer: S3Enforcer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("billing.aws.objects.PAGE_SIZE", 1)
    monkeypatch.setattr("policies.enforce.s3.DELETED_AT_ONCE", 1)
    target = step_one(aws)

    enforcer.act("quarantine", target)
    enforcer.act("delete", target)

    assert keys(s3) == ["job-1/step-10/a.pt", "job-10/step-1/a.pt"]


def test_the_clock_of_s3_is_told(aws: Aws, s3: Any, enforcer: S3Enforcer) -> None:
    assert s3 is not None
    skew = enforcer.look(step_one(aws)).skew

    assert skew is not None
    assert abs(skew) < timedelta(days=3650)


def test_the_listed_permissions_are_the_calls_that_are_made(
    aws: Aws, s3: Any, enforcer: S3Enforcer
) -> None:
    target = step_one(aws)
    assert s3 is not None
    before = aws.sandbox.requests.counts()

    enforcer.look(target)
    enforcer.act("quarantine", target)
    enforcer.act("delete", target)

    after = aws.sandbox.requests.counts()
    called = {
        ACTIONS[name]
        for name, count in after.items()
        if name.startswith("s3:") and count > before.get(name, 0)
    }
    assert called == set(OBJECT_PERMISSIONS)
