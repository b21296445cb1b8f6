"""The queue of events over SQS: long polls, batches, what stays and what goes."""

from __future__ import annotations

import json

import pytest

from billing.aws.events import SqsEventQueue, queue_region
from billing.ports import SourceUnavailableError
from deploy.sandbox.aws.faults import Fault
from tests.contract.sources.aws import Aws


def queue_of(aws: Aws, **attributes: str) -> str:
    sandbox = aws.serve()
    made = sandbox.client("sqs").create_queue(
        QueueName="gpucost-events", Attributes=attributes
    )
    url: str = made["QueueUrl"]
    return url


def send(aws: Aws, url: str, *bodies: str) -> None:
    for body in bodies:
        aws.sandbox.client("sqs").send_message(QueueUrl=url, MessageBody=body)


def test_messages_come_in_tens_and_stay_until_they_are_deleted(aws: Aws) -> None:
    url = queue_of(aws, VisibilityTimeout="0")
    send(aws, url, *(f"body {number}" for number in range(12)))
    queue = SqsEventQueue(aws.clients(), url, wait_s=0)

    first = queue.receive()
    again = queue.receive()
    failed = queue.delete(again)

    assert len(first) == 10
    assert len(again) == 10
    assert failed == 0
    assert queue.state().waiting == 2


def test_a_message_says_how_often_it_was_handed_out(aws: Aws) -> None:
    url = queue_of(aws, VisibilityTimeout="0")
    send(aws, url, "body")
    queue = SqsEventQueue(aws.clients(), url, wait_s=0)

    deliveries = [queue.receive()[0].deliveries for _ in range(3)]

    assert deliveries == [1, 2, 3]


def test_an_empty_queue_answers_nothing(aws: Aws) -> None:
    queue = SqsEventQueue(aws.clients(), queue_of(aws), wait_s=0)

    assert list(queue.receive()) == []


def test_a_body_and_a_receipt_are_in_no_representation(aws: Aws) -> None:
    url = queue_of(aws)
    send(aws, url, "secret")
    (message,) = SqsEventQueue(aws.clients(), url, wait_s=0).receive()

    assert "secret" not in repr(message)
    assert message.receipt not in repr(message)


def test_a_queue_tells_whether_it_moves_aside_what_cannot_be_read(aws: Aws) -> None:
    url = queue_of(aws)
    queue = SqsEventQueue(aws.clients(), url, wait_s=0)
    before = queue.state().moves_aside
    sqs = aws.sandbox.client("sqs")
    aside = sqs.create_queue(QueueName="aside")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=aside, AttributeNames=["QueueArn"])
    policy = {
        "deadLetterTargetArn": arn["Attributes"]["QueueArn"],
        "maxReceiveCount": "3",
    }

    sqs.set_queue_attributes(
        QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(policy)}
    )

    assert before is False
    assert queue.state().moves_aside is True


def test_a_missing_queue_is_a_named_failure(aws: Aws) -> None:
    queue_of(aws)
    url = f"{aws.sandbox.endpoint_url}/123456789012/misspelt"
    queue = SqsEventQueue(aws.clients(), url, wait_s=0)

    with pytest.raises(SourceUnavailableError, match="sqs:ReceiveMessage failed"):
        queue.receive()


def test_a_refused_queue_is_a_named_failure(aws: Aws) -> None:
    queue = SqsEventQueue(aws.clients(), queue_of(aws), wait_s=0)
    aws.sandbox.faults.add(
        Fault(service="sqs", operation="ReceiveMessage", kind="deny")
    )

    with pytest.raises(SourceUnavailableError) as refused:
        queue.receive()

    assert refused.value.cause in {"AccessDenied", "AccessDeniedException"}


def test_the_region_is_the_one_of_the_queue() -> None:
    urls = (
        "https://sqs.eu-west-1.amazonaws.com/123456789012/events",
        "https://eu-west-1.queue.amazonaws.com/123456789012/events",
        "http://127.0.0.1:5000/123456789012/events",
    )

    assert [queue_region(url) for url in urls] == ["eu-west-1", "eu-west-1", ""]
