from __future__ import annotations

import json

from billing.aws.permissions import READ_PERMISSIONS
from policies.core.actions import MANAGED_TAG
from policies.enforce.aws import ENFORCE_PERMISSIONS
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
    assert unguarded == []


def test_the_two_roles_share_no_call_that_changes_anything() -> None:
    changing = {
        action
        for action in ENFORCE_PERMISSIONS
        if not action.partition(":")[2].startswith(READING_VERBS)
    }

    assert changing & set(READ_PERMISSIONS) == set()
