"""Makes the outbox's effects in Slack, and finds those that may already exist.

Each post carries its key in the message's metadata: Slack has no idempotency key,
so after a doubt the channel's history is read before anything is sent again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from slack_sdk import WebClient

from bot.ports import OutboxMessage, PostResult, SlackFailedError
from bot.slack.channels import Channels
from bot.slack.client import call
from bot.views.native import has_native, without_native

METADATA_EVENT = "gpucost_effect"
#: Pages of 200 messages read when looking for a key; more is reported, not guessed.
PAGES_MAX = 10
PAGE_SIZE = 200
#: How long before a reply its thread may have begun.
THREAD_AGE_MAX = timedelta(days=2)
_BLOCK_CODES = frozenset({"invalid_blocks", "invalid_blocks_format"})


class SlackNotifier:
    """The ``Notifier`` port over Slack's Web API."""

    def __init__(self, client: WebClient, channels: Channels | None = None) -> None:
        self._client = client
        self._channels = channels or Channels(client)

    def deliver(
        self, message: OutboxMessage, *, target_ts: str = "", thread_ts: str = ""
    ) -> PostResult:
        """Make one effect; charts become text where the workspace refuses them.

        Raises:
            SlackFailedError: With what can be said about it.
        """
        payload = dict(message.payload)
        try:
            return self._make(
                message, payload, target_ts=target_ts, thread_ts=thread_ts
            )
        except SlackFailedError as error:
            blocks = payload.get("blocks") or []
            if error.code not in _BLOCK_CODES or not has_native(blocks):
                raise
        payload["blocks"] = without_native(blocks)
        return self._make(message, payload, target_ts=target_ts, thread_ts=thread_ts)

    def _make(
        self,
        message: OutboxMessage,
        payload: Mapping[str, Any],
        *,
        target_ts: str,
        thread_ts: str,
    ) -> PostResult:
        if message.kind == "update":
            return self._update(message, payload, target_ts)
        if message.kind == "ephemeral":
            return self._ephemeral(message, payload, thread_ts)
        if message.kind == "post":
            return self._post(message, payload, thread_ts)
        raise SlackFailedError(f"unknown_kind_{message.kind}", is_final=True)

    def _post(
        self, message: OutboxMessage, payload: Mapping[str, Any], thread_ts: str
    ) -> PostResult:
        channel = self._channels.id_of(message.channel)
        said = call(
            self._client.chat_postMessage,
            **payload,
            channel=channel,
            thread_ts=thread_ts or None,
            metadata=_metadata(message.key),
            unfurl_links=False,
            unfurl_media=False,
        )
        return PostResult(channel=str(said["channel"]), ts=str(said["ts"]))

    def _update(
        self, message: OutboxMessage, payload: Mapping[str, Any], target_ts: str
    ) -> PostResult:
        if not target_ts:
            raise SlackFailedError("message_not_found", is_final=True)
        said = call(
            self._client.chat_update,
            **payload,
            channel=self._channels.id_of(message.channel),
            ts=target_ts,
            # Without it Slack would drop the metadata that the post carried.
            metadata=_metadata(message.ref or message.key),
        )
        return PostResult(channel=str(said["channel"]), ts=str(said["ts"]))

    def _ephemeral(
        self, message: OutboxMessage, payload: Mapping[str, Any], thread_ts: str
    ) -> PostResult:
        channel = self._channels.id_of(message.channel)
        said = call(
            self._client.chat_postEphemeral,
            **payload,
            channel=channel,
            user=message.user,
            thread_ts=thread_ts or None,
        )
        return PostResult(channel=channel, ts=str(said.get("message_ts") or ""))

    def find_posted(self, message: OutboxMessage, since: datetime) -> PostResult | None:
        """Look for a message carrying the key; ephemeral ones leave no trace.

        Raises:
            SlackFailedError: History cannot be read, so nothing can be said.
        """
        if message.kind != "post":
            return None
        channel = self._channels.id_of(message.channel)
        # The post that a thread hangs on is older than its replies.
        oldest = since - THREAD_AGE_MAX if message.thread_of else since
        for page in self._history(channel, oldest):
            for one in page:
                if _key_of(one) == message.key:
                    return PostResult(channel=channel, ts=str(one["ts"]))
                if message.thread_of and _key_of(one) == message.thread_of:
                    return self._find_reply(message, channel, str(one["ts"]))
        return None

    def _find_reply(
        self, message: OutboxMessage, channel: str, thread_ts: str
    ) -> PostResult | None:
        method = self._client.conversations_replies
        for page in _pages(method, channel=channel, ts=thread_ts):
            for one in page:
                if _key_of(one) == message.key:
                    return PostResult(channel=channel, ts=str(one["ts"]))
        return None

    def _history(self, channel: str, since: datetime) -> Iterator[Sequence[Any]]:
        method = self._client.conversations_history
        oldest = f"{since.timestamp():.6f}"
        yield from _pages(method, channel=channel, oldest=oldest)


def _pages(method: Any, **arguments: Any) -> Iterator[Sequence[Any]]:
    cursor = ""
    for _ in range(PAGES_MAX):
        said = call(
            method,
            **arguments,
            cursor=cursor or None,
            limit=PAGE_SIZE,
            include_all_metadata=True,
        )
        yield said.get("messages") or ()
        cursor = (said.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            return
    # Not finding it in part of a history proves nothing.
    raise SlackFailedError("history_too_long")


def _metadata(key: str) -> dict[str, Any]:
    return {"event_type": METADATA_EVENT, "event_payload": {"key": key}}


def _key_of(message: Mapping[str, Any]) -> str:
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != METADATA_EVENT:
        return ""
    return str((metadata.get("event_payload") or {}).get("key") or "")
