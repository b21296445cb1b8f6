"""The queue's template sends what gpucost reads, and nobody else may send or read."""

from __future__ import annotations

from typing import Any

import pytest
from ruamel.yaml import YAML

from billing.core.event_messages import EventKind, kind_of
from tests.project import ROOT

TEMPLATE = ROOT / "deploy" / "aws" / "events" / "template.yaml"


@pytest.fixture(scope="module")
def resources() -> Any:
    """Read the template; its short functions (`!Ref`) become plain values."""
    yaml = YAML(typ="rt")
    return yaml.load(TEMPLATE.read_text("utf-8"))["Resources"]


def rules(resources: Any) -> dict[str, Any]:
    return {
        name: one["Properties"]
        for name, one in resources.items()
        if one["Type"] == "AWS::Events::Rule"
    }


def test_every_event_that_is_sent_is_of_a_kind_that_is_read(resources: Any) -> None:
    sent = [
        name
        for rule in rules(resources).values()
        for name in rule["EventPattern"]["detail-type"]
    ]

    kinds = {kind_of(name) for name in sent}

    assert kinds == set(EventKind) - {EventKind.OTHER}


def test_only_the_rules_may_send(resources: Any) -> None:
    (policy,) = (
        one["Properties"]["PolicyDocument"]["Statement"]
        for one in resources.values()
        if one["Type"] == "AWS::SQS::QueuePolicy"
    )
    sending = [one for one in policy if one["Action"] == "sqs:SendMessage"]

    (statement,) = sending
    sources = statement["Condition"]["ArnEquals"]["aws:SourceArn"]
    assert {str(getattr(one, "value", one)) for one in sources} == {
        f"{name}.Arn" for name in rules(resources)
    }


def test_what_cannot_be_read_is_moved_aside(resources: Any) -> None:
    queue = resources["Queue"]["Properties"]

    assert queue["QueueName"] == "gpucost-events"
    assert queue["RedrivePolicy"]["maxReceiveCount"] >= 3
    assert queue["VisibilityTimeout"] >= 60
