"""Write the CloudFormation template of gpucost's roles: ``python -m deploy.roles``.

The policies are those of ``deploy/aws/iam-*.json``, word for word; what those files leave
open (a bucket) becomes a parameter, and its statement is left out where it is empty. A
test holds the template to what this prints.
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

AWS = Path(__file__).parent / "aws"
TEMPLATE = AWS / "roles" / "template.yaml"
#: What the shipped policies leave open -> the parameter that fills it in.
OPEN = {"EXPORT-BUCKET": "ExportBucket", "CHECKPOINT-BUCKET": "CheckpointBucket"}
_HEAD = """\
# Written by `python -m deploy.roles` from deploy/aws/iam-*.json; not edited by hand.
"""


def template() -> str:
    """Return the template's text."""
    yaml = YAML()
    yaml.width = 100
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    yaml.dump(_document(), stream)
    return _HEAD + stream.getvalue()


def _document() -> dict[str, Any]:
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": (
            "The roles that gpucost takes in an account: one that reads, and only where"
            " asked for one that stops what is tagged gpucost-managed=true."
        ),
        "Parameters": _parameters(),
        "Conditions": {
            "Enforces": {"Fn::Equals": [{"Ref": "Enforce"}, "yes"]},
            **{
                f"Has{name}": {"Fn::Not": [{"Fn::Equals": [{"Ref": name}, ""]}]}
                for name in OPEN.values()
            },
        },
        "Resources": {
            "ReadPolicy": {
                "Type": "AWS::IAM::ManagedPolicy",
                "Properties": {
                    "ManagedPolicyName": "gpucost-read",
                    "PolicyDocument": _policy("iam-read.json"),
                },
            },
            "ReadRole": _role("gpucost-read", managed=[{"Ref": "ReadPolicy"}]),
            "EnforceRole": {
                "Condition": "Enforces",
                **_role("gpucost-enforce", inline=_policy("iam-enforce.json")),
            },
        },
        "Outputs": {
            "ReadRoleArn": {"Value": {"Fn::GetAtt": ["ReadRole", "Arn"]}},
            "ReadPolicyArn": {"Value": {"Ref": "ReadPolicy"}},
        },
    }


def _parameters() -> dict[str, Any]:
    bucket = {"Type": "String", "Default": "", "AllowedPattern": "^[a-z0-9.-]{0,63}$"}
    return {
        "RunsAs": {
            "Type": "String",
            "Description": "The role that gpucost runs as; it alone may take these roles.",
            "AllowedPattern": "^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$",
        },
        "Enforce": {
            "Type": "String",
            "Description": "yes makes the role that may stop instances.",
            "AllowedValues": ["no", "yes"],
            "Default": "no",
        },
        "ExportBucket": bucket
        | {"Description": "Where cost exports are; empty where there are none."},
        "CheckpointBucket": bucket
        | {"Description": "Where checkpoints may be removed; empty for nowhere."},
    }


def _role(
    name: str,
    *,
    managed: list[Any] | None = None,
    inline: Any = None,  # noqa: ANN401 - JSON
) -> dict[str, Any]:
    account = {"Fn::Select": [4, {"Fn::Split": [":", {"Ref": "RunsAs"}]}]}
    properties: dict[str, Any] = {
        "RoleName": name,
        "MaxSessionDuration": 3600,
        "AssumeRolePolicyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    # The account, narrowed to one role: it need not exist yet.
                    "Principal": {"AWS": account},
                    "Action": "sts:AssumeRole",
                    "Condition": {"ArnEquals": {"aws:PrincipalArn": {"Ref": "RunsAs"}}},
                }
            ],
        },
    }
    if managed is not None:
        properties["ManagedPolicyArns"] = managed
    if inline is not None:
        properties["Policies"] = [{"PolicyName": name, "PolicyDocument": inline}]
    return {"Type": "AWS::IAM::Role", "Properties": properties}


def _policy(file: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((AWS / file).read_text("utf-8"))
    document["Statement"] = [_filled(one) for one in document["Statement"]]
    return document


def _filled(statement: dict[str, Any]) -> dict[str, Any]:
    """Put parameters in for what a statement leaves open."""
    text = json.dumps(statement["Resource"])
    found = [word for word in OPEN if word in text]
    if not found:
        return statement
    (word,) = found
    named = statement["Resource"]
    one_or_more = [named] if isinstance(named, str) else named
    filled = [
        {"Fn::Sub": one.replace(word, f"${{{OPEN[word]}}}")} for one in one_or_more
    ]
    return {
        "Fn::If": [
            f"Has{OPEN[word]}",
            {**statement, "Resource": filled},
            {"Ref": "AWS::NoValue"},
        ]
    }


if __name__ == "__main__":
    TEMPLATE.parent.mkdir(exist_ok=True)
    TEMPLATE.write_text(template(), encoding="utf-8")
    sys.stdout.write(f"{TEMPLATE}\n")
