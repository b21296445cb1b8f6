from __future__ import annotations

import json

from billing.aws.permissions import READ_PERMISSIONS
from policies.core.actions import MANAGED_TAG
from policies.core.holding import QUARANTINE
from policies.enforce.dispatch import ENFORCE_PERMISSIONS
from tests.project import ROOT

READ = json.loads((ROOT / "deploy" / "aws" / "iam-read.json").read_text("utf-8"))
ENFORCE = json.loads((ROOT / "deploy" / "aws" / "iam-enforce.json").read_text("utf-8"))
READING_VERBS = ("Get", "List", "Describe")
#: Reads through another account's role, and empties gpucost's own queue of events.
NAMED_EXCEPTIONS = {"sts:AssumeRole", "sqs:DeleteMessage", "sqs:ReceiveMessage"}


def test_the_read_policy_allows_exactly_the_calls_that_reading_makes() -> None:
    allowed = [
        action for statement in READ["Statement"] for action in statement["Action"]
    ]

    assert sorted(allowed) == sorted(READ_PERMISSIONS)


def test_the_read_policy_holds_only_verbs_that_read() -> None:
    allowed = {
        action for statement in READ["Statement"] for action in statement["Action"]
    }

    changing = {
        action
        for action in allowed - NAMED_EXCEPTIONS
        if not action.partition(":")[2].startswith(READING_VERBS)
    }
    assert changing == set()


def test_other_accounts_are_entered_by_the_read_role_alone() -> None:
    (statement,) = (
        one for one in READ["Statement"] if "sts:AssumeRole" in one["Action"]
    )

    assert statement["Resource"] == "arn:aws:iam::*:role/gpucost-read"


def test_the_enforce_policy_allows_exactly_the_calls_that_acting_makes() -> None:
    allowed = [
        action for statement in ENFORCE["Statement"] for action in statement["Action"]
    ]

    assert sorted(allowed) == sorted(ENFORCE_PERMISSIONS)


def test_whatever_changes_something_needs_the_tag_that_gives_it_to_gpucost() -> None:
    key, value = MANAGED_TAG
    wanted = {"StringEquals": {f"aws:ResourceTag/{key}": value}}

    unguarded = [
        action
        for statement in ENFORCE["Statement"]
        if statement.get("Condition") != wanted
        for action in statement["Action"]
        if not action.partition(":")[2].startswith(READING_VERBS)
    ]
    assert [one for one in unguarded if not one.startswith("s3:")] == []


def test_objects_are_touched_in_named_buckets_only() -> None:
    # S3 knows no condition on existing tags for deletion, so a bucket has to be named:
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/tagging-and-policies.html
    resources = {
        resource
        for statement in ENFORCE["Statement"]
        if any(action.startswith("s3:") for action in statement["Action"])
        for resource in (
            statement["Resource"]
            if isinstance(statement["Resource"], list)
            else [statement["Resource"]]
        )
    }

    assert resources == {
        "arn:aws:s3:::CHECKPOINT-BUCKET",
        "arn:aws:s3:::CHECKPOINT-BUCKET/*",
    }


def test_tags_may_only_be_written_with_the_quarantine_among_them() -> None:
    (statement,) = (
        one
        for one in ENFORCE["Statement"]
        if "s3:PutObjectVersionTagging" in one["Action"]
    )

    assert statement["Condition"] == {
        "StringEquals": {f"s3:RequestObjectTag/{QUARANTINE}": "true"}
    }


def test_the_two_roles_share_no_call_that_changes_anything() -> None:
    changing = {
        action
        for action in ENFORCE_PERMISSIONS
        if not action.partition(":")[2].startswith(READING_VERBS)
    }

    assert changing & set(READ_PERMISSIONS) == set()
