"""An event on the queue becomes a message to the owner, and is deleted; or it stays."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from deploy.sandbox.aws import AwsSandbox
from deploy.sandbox.aws.faults import Fault
from deploy.sandbox.slack import SlackSandbox
from tests.builders_events import interruption_body, state_body
from tests.e2e.conftest import Opens
from tests.e2e.support import Place, Served, until
from tests.e2e.world import JOB, NEVER, NOW, company, later, node

CHANNEL = "gpu-costs"
#: A warning is two minutes; half a minute of them may pass on a loaded machine.
WITHIN_S = 30.0
SPOT, OTHER = node(1).id, node(2).id


@pytest.fixture(scope="module")
def queue(aws: AwsSandbox) -> str:
    """Lay out a job of two spot instances, and a queue that moves aside."""
    tags = {"job_id": JOB, "owner": "mia@example.com"}
    spot = [replace(node(number, **tags), lifecycle="spot") for number in (1, 2)]
    aws.reset(company(costs=[], instances=spot, metrics=[]))
    sqs = aws.client("sqs")
    aside = sqs.create_queue(QueueName="gpucost-events-aside")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=aside, AttributeNames=["QueueArn"])
    policy = {
        "deadLetterTargetArn": arn["Attributes"]["QueueArn"],
        "maxReceiveCount": "2",
    }
    # The clock of the sandbox stands still: time alone makes nothing visible again.
    attributes = {"VisibilityTimeout": "0", "RedrivePolicy": json.dumps(policy)}
    made = sqs.create_queue(QueueName="gpucost-events", Attributes=attributes)
    url: str = made["QueueUrl"]
    return url


@pytest.fixture(scope="module")
def place(opens: Opens, slack: SlackSandbox, queue: str) -> Iterator[Place]:
    with opens(slack, schedule=NEVER, aws={"events": {"queue_url": queue}}) as opened:
        opened.skip_first_reads()
        opened.json("ingest", "--source", "inventory")
        yield opened


@pytest.fixture(scope="module")
def served(place: Place) -> Iterator[Served]:
    running = place.serve().ready()
    yield running
    running.stop()


def send(aws: AwsSandbox, url: str, body: str) -> None:
    aws.client("sqs").send_message(QueueUrl=url, MessageBody=body)


def told(slack: SlackSandbox) -> list[Any]:
    return [one for one in slack.messages(CHANNEL) if SPOT in str(one.blocks)]


def left(aws: AwsSandbox, url: str) -> int:
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    found = aws.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=names)
    return sum(int(found["Attributes"][name]) for name in names)


def test_spot_warning_reaches_the_owner_within_seconds(
    served: Served, aws: AwsSandbox, slack: SlackSandbox, queue: str
) -> None:
    began = time.monotonic()
    send(aws, queue, interruption_body(instance=SPOT, at=NOW))

    (message,) = until(lambda: told(slack), "the warning", patience_s=WITHIN_S)

    assert time.monotonic() - began < WITHIN_S
    assert "<@U0MIA>: AWS terminates" in str(message.blocks)
    assert "1 other instance of the job" in str(message.blocks)


def test_an_event_that_comes_again_is_not_told_again(
    served: Served, aws: AwsSandbox, slack: SlackSandbox, queue: str
) -> None:
    send(aws, queue, interruption_body(instance=SPOT, at=NOW))

    until(
        lambda: [
            one for one in served.logs("events_heard") if "delivered_again" in one
        ],
        "the second delivery",
    )
    served.settled()

    assert len(told(slack)) == 1


def test_what_cannot_be_read_is_moved_aside_and_logged_without_its_body(
    served: Served, aws: AwsSandbox, queue: str
) -> None:
    send(aws, queue, '{"secret body"')
    send(aws, queue, state_body("running", instance=OTHER, event_id="e-2", at=NOW))

    served.wait_log("event_unreadable")
    until(lambda: left(aws, f"{queue}-aside") == 1, "the message moved aside")
    until(lambda: left(aws, queue) == 0, "an empty queue")

    assert "secret body" not in served.log_file.read_text("utf-8")


def test_a_state_change_ends_the_running_time_when_aws_says(
    served: Served, place: Place, aws: AwsSandbox, queue: str
) -> None:
    place.set_clock(later(NOW, hours=2))
    at = later(NOW, hours=1)
    send(aws, queue, state_body("shutting-down", instance=OTHER, event_id="e-3", at=at))

    def stopped() -> bool:
        (job,) = place.json("jobs")["jobs"]
        return bool(job["instances"] == 1)

    until(stopped, "one instance less")


# Last: the queue is closed to us.
def test_a_closed_queue_is_degraded_and_named_by_the_doctor(
    served: Served, place: Place, aws: AwsSandbox, queue: str
) -> None:
    for operation in ("ReceiveMessage", "GetQueueAttributes"):
        aws.faults.add(Fault(service="sqs", operation=operation, kind="deny"))
    # The question that waits is answered; the next one is refused.
    send(aws, queue, state_body("pending", event_id="e-4", at=NOW))

    served.wait_log("events_not_heard")
    status, text = served.get("/readyz")
    checks = place.run("doctor", "--format", "json").json["checks"]

    aws.faults.clear()
    (check,) = (one for one in checks if one["name"] == "event queue")
    assert status == 200
    assert '"status":"degraded"' in text
    assert "sqs:ReceiveMessage failed" in text
    assert check["ok"] is False
    assert "deploy/aws/iam-read.json" in check["fix"]
