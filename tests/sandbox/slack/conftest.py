from __future__ import annotations

from collections.abc import Iterator

import pytest
from slack_sdk import WebClient

from deploy.sandbox.slack import PostLimit, SlackSandbox
from tests.sandbox.slack.bolt import make_client


def make_sandbox(ack_timeout_s: float) -> SlackSandbox:
    return SlackSandbox(
        post_limit=PostLimit(per_s=None),
        ack_timeout_s=ack_timeout_s,
        retry_delays_s=(0.0, 0.01, 0.02),
    )


@pytest.fixture
def slack() -> Iterator[SlackSandbox]:
    with make_sandbox(ack_timeout_s=3.0) as sandbox:
        yield sandbox


@pytest.fixture
def hasty_slack() -> Iterator[SlackSandbox]:
    """Give up waiting sooner than Slack: for tests that let the time run out."""
    with make_sandbox(ack_timeout_s=0.5) as sandbox:
        yield sandbox


@pytest.fixture
def client(slack: SlackSandbox) -> WebClient:
    return make_client(slack)
