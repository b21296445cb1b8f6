from __future__ import annotations

from collections.abc import Iterator

import pytest
from slack_sdk import WebClient

from bot.slack.client import build_client
from deploy.sandbox.slack import PostLimit, SlackSandbox


@pytest.fixture
def slack() -> Iterator[SlackSandbox]:
    """A workspace on loopback that posts as fast as the test asks."""
    with SlackSandbox(
        post_limit=PostLimit(per_s=None), retry_delays_s=(0.0, 0.01, 0.02)
    ) as sandbox:
        yield sandbox


@pytest.fixture
def client(slack: SlackSandbox) -> WebClient:
    token = slack.workspace.app.bot_token
    return build_client(token, api_url=slack.api_url, timeout_s=5)
