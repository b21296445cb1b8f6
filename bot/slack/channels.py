"""Channel names to ids, and people to their direct message with us.

Slack's history and updates take ids only. Ids stay the same, so they are kept.
"""

from __future__ import annotations

import re
from threading import Lock
from typing import Any

from slack_sdk import WebClient

from bot.ports import SlackFailedError
from bot.slack.client import call

_CHANNEL = re.compile(r"[CDG][A-Z0-9]{2,30}")
_USER = re.compile(r"[UW][A-Z0-9]{2,30}")
PAGES_MAX = 50
PAGE_SIZE = 1000


class Channels:
    """Finds the id of a channel, once per name."""

    def __init__(self, client: WebClient) -> None:
        self._client = client
        self._ids: dict[str, str] = {}
        self._lock = Lock()

    def id_of(self, channel: str) -> str:
        """Return a channel's id; a user id opens the direct message with them.

        Raises:
            SlackFailedError: ``channel_not_found``, or Slack cannot be asked.
        """
        if _CHANNEL.fullmatch(channel):
            return channel
        with self._lock:
            known = self._ids.get(channel)
            if known is None:
                known = self._find(channel)
                self._ids[channel] = known
            return known

    def _find(self, channel: str) -> str:
        if _USER.fullmatch(channel):
            said = call(self._client.conversations_open, users=channel)
            return str(said["channel"]["id"])
        name = channel.removeprefix("#").lower()
        cursor = ""
        for _ in range(PAGES_MAX):
            said = call(
                self._client.conversations_list,
                types="public_channel,private_channel",
                exclude_archived=False,
                limit=PAGE_SIZE,
                cursor=cursor or None,
            )
            found = _named(said.get("channels") or [], name)
            if found:
                return found
            cursor = (said.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                break
        raise SlackFailedError("channel_not_found", is_final=True)


def _named(channels: list[Any], name: str) -> str:
    """Return the id of the channel of a name; a live one before an archived one."""
    same = [one for one in channels if one.get("name") == name]
    same.sort(key=lambda one: bool(one.get("is_archived")))
    return str(same[0]["id"]) if same else ""
