"""Brings an answer to one person: by the response URL, else as an ephemeral post.

A response URL takes five answers within thirty minutes; when it is used up, expired
or unreachable the bot's own token is the other way. Only Slack's hosts are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from slack_sdk import WebClient
from slack_sdk.webhook import WebhookClient

from bot.ports import Message, SlackFailedError
from bot.slack.client import TIMEOUT_S, call, quiet_logger
from bot.views.asked import has_buttons
from bot.views.limits import fit
from bot.views.native import has_native, without_native

RESPONSES_MAX = 5
SLACK_HOSTS = frozenset({"hooks.slack.com", "hooks.slack-gov.com"})


def is_allowed_url(url: str, api_url: str) -> bool:
    """Tell whether a response URL leads to Slack: its hosts, or the API's own origin.

    >>> is_allowed_url("http://169.254.169.254/latest", "https://slack.com/api/")
    False
    """
    try:
        parts, api = urlsplit(url), urlsplit(api_url)
        origin = (parts.scheme, parts.hostname, parts.port)
        same = origin == (api.scheme, api.hostname, api.port)
    except ValueError:
        return False
    if parts.username or parts.password:
        return False
    is_slack = parts.scheme == "https" and parts.hostname in SLACK_HOSTS
    return (is_slack and parts.port in {None, 443}) or same


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Where one person waits for an answer.

    Attributes:
        response_url: "" when Slack gave none.
        replaces_pressed: A fresh answer takes the place of the one that was pressed;
            anything else is shown besides it.
    """

    client: WebClient
    channel_id: str
    user_id: str
    response_url: str = ""
    thread_ts: str = ""
    replaces_pressed: bool = False

    def send(self, messages: Sequence[Message]) -> None:
        """Show messages to the person alone, in order.

        Raises:
            SlackFailedError: Neither way works; the rest was not sent.
        """
        pages = [page for message in messages for page in fit(message)]
        by_url = is_allowed_url(self.response_url, self.client.base_url)
        is_fresh = self.replaces_pressed and any(map(has_buttons, messages))
        for index, page in enumerate(pages):
            replace = is_fresh and index == 0
            by_url = (
                by_url
                and index < RESPONSES_MAX
                and self._respond(page, replace=replace)
            )
            if not by_url:
                self._post(page)

    def _respond(self, message: Message, *, replace: bool) -> bool:
        """Answer by URL; False when the other way must be taken."""
        webhook = WebhookClient(
            self.response_url,
            timeout=TIMEOUT_S,
            retry_handlers=[],
            logger=quiet_logger("gpucost.slack.sdk"),
        )
        blocks = list(message.blocks)
        try:
            status = _respond(webhook, message.text, blocks, replace=replace)
            if status != 200 and has_native(blocks):  # noqa: PLR2004 (HTTP)
                blocks = without_native(blocks)
                status = _respond(webhook, message.text, blocks, replace=replace)
        except (OSError, HTTPException):
            return False
        return status == 200  # noqa: PLR2004 (HTTP)

    def _post(self, message: Message) -> None:
        blocks = list(message.blocks)
        arguments: dict[str, Any] = {
            "channel": self.channel_id,
            "user": self.user_id,
            "text": message.text,
            "thread_ts": self.thread_ts or None,
        }
        method = self.client.chat_postEphemeral
        try:
            call(method, blocks=blocks or None, **arguments)
        except SlackFailedError as error:
            if error.code != "invalid_blocks" or not has_native(blocks):
                raise
            call(method, blocks=without_native(blocks), **arguments)


def _respond(
    webhook: WebhookClient, text: str, blocks: list[Any], *, replace: bool
) -> int:
    answer = webhook.send(
        text=text,
        blocks=blocks or None,
        response_type="ephemeral",
        replace_original=replace,
    )
    return int(answer.status_code)


def payload_of(message: Message) -> dict[str, Any]:
    """Return a message as the payload of an outbox effect."""
    payload: dict[str, Any] = {"text": message.text}
    if message.blocks:
        payload["blocks"] = list(message.blocks)
    return payload
