from __future__ import annotations

from collections.abc import Iterator

import pytest
from slack_sdk import WebClient

from deploy.sandbox.slack import PostLimit, SlackSandbox
from tests.sandbox.slack.bolt import make_client


@pytest.fixture
def slack() -> Iterator[SlackSandbox]:
    sandbox = SlackSandbox(
        post_limit=PostLimit(per_s=None),
        ack_timeout_s=0.4,
        retry_delays_s=(0.0, 0.01, 0.02),
    )
    with sandbox:
        yield sandbox


@pytest.fixture
def client(slack: SlackSandbox) -> WebClient:
    return make_client(slack)
