"""The SQS queue that EventBridge puts events on: taken ten at a time, by long polls.

Limits of SQS: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/
(ten messages a receive, 20 s a long poll; a message may come more than once and in any
order). Must not know what a message says; a body never reaches a log.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from billing.aws.calls import Call, ask, whole
from billing.aws.session import AwsClients
from billing.ports.events import QueuedMessage, QueueState

SOURCE = "events"
BATCH_MAX = 10
#: SQS holds a question open for at most this long; our read timeout is longer.
WAIT_S = 20

RECEIVE = Call(source=SOURCE, method="receive_message", permission="sqs:ReceiveMessage")
DELETE = Call(
    source=SOURCE, method="delete_message_batch", permission="sqs:DeleteMessage"
)
ATTRIBUTES = Call(
    source=SOURCE,
    method="get_queue_attributes",
    permission="sqs:GetQueueAttributes",
    required=("Attributes",),
)
PERMISSIONS = (RECEIVE.permission, DELETE.permission, ATTRIBUTES.permission)

_REGION = re.compile(
    r"(?:sqs\.(?P<new>[a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)"
    r"|(?P<old>[a-z0-9-]+)\.queue\.amazonaws\.com)"
)
_WAITING = "ApproximateNumberOfMessages"
_ASIDE = "RedrivePolicy"


class SqsEventQueue:
    """The ``EventQueue`` port over one queue, read with the caller's credentials.

    Args:
        url: The queue's URL as SQS names it.
        wait_s: How long a receive waits for the first message.
    """

    def __init__(self, clients: AwsClients, url: str, *, wait_s: int = WAIT_S) -> None:
        self._clients = clients
        self._url = url
        self._wait_s = wait_s

    def receive(self) -> Sequence[QueuedMessage]:
        """Wait a while for messages and take up to ten; often none."""
        answer = ask(
            self._client(),
            RECEIVE,
            {
                "QueueUrl": self._url,
                "MaxNumberOfMessages": BATCH_MAX,
                "WaitTimeSeconds": self._wait_s,
                "AttributeNames": ["ApproximateReceiveCount"],
            },
        )
        with whole(RECEIVE):
            return [_message(raw) for raw in answer.get("Messages", ())]

    def delete(self, messages: Sequence[QueuedMessage]) -> int:
        """Delete messages that were handled; return how many could not be deleted."""
        failed = 0
        for start in range(0, len(messages), BATCH_MAX):
            some = messages[start : start + BATCH_MAX]
            entries = [
                {"Id": str(number), "ReceiptHandle": one.receipt}
                for number, one in enumerate(some)
            ]
            answer = ask(
                self._client(), DELETE, {"QueueUrl": self._url, "Entries": entries}
            )
            failed += len(answer.get("Failed", ()))
        return failed

    def state(self) -> QueueState:
        """Return how the queue stands."""
        asked = {"QueueUrl": self._url, "AttributeNames": [_WAITING, _ASIDE]}
        found = ask(self._client(), ATTRIBUTES, asked)["Attributes"]
        waiting = found.get(_WAITING)
        return QueueState(
            waiting=None if waiting is None else int(waiting),
            moves_aside=bool(found.get(_ASIDE)),
        )

    def _client(self) -> Any:
        return self._clients.client("sqs", region=queue_region(self._url))


def queue_region(url: str) -> str:
    """Return the region that a queue's URL names; "" when it names none.

    >>> queue_region("https://sqs.eu-west-1.amazonaws.com/123456789012/events")
    'eu-west-1'
    """
    found = _REGION.fullmatch(urlsplit(url).hostname or "")
    return (found["new"] or found["old"]) if found else ""


def _message(raw: dict[str, Any]) -> QueuedMessage:
    attributes = raw.get("Attributes", {})
    return QueuedMessage(
        message_id=raw["MessageId"],
        receipt=raw["ReceiptHandle"],
        body=raw["Body"],
        deliveries=int(attributes.get("ApproximateReceiveCount", 1)),
    )
