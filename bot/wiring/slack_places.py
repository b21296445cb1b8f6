"""Where figures may be posted, as Slack says right now."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from slack_sdk import WebClient

from bot.settings import Settings
from bot.slack.asked_again import why_not_here
from bot.slack.channels import Channels
from bot.slack.client import connect
from bot.slack.handlers import Home
from bot.wiring.people import slack_client


@dataclass(frozen=True)
class Places:
    """Channels by name, and whether figures may go there."""

    settings: Settings

    @cached_property
    def _client(self) -> WebClient:
        return slack_client(self.settings)

    @cached_property
    def _home(self) -> Home:
        return connect(self._client)

    @cached_property
    def _channels(self) -> Channels:
        return Channels(self._client)

    def id_of(self, channel: str) -> str:
        """Return a channel's id.

        Raises:
            SlackFailedError: There is none of this name, or Slack cannot be asked.
        """
        return self._channels.id_of(channel)

    def why_not(self, channel_id: str) -> str:
        """Return why figures may not be posted there; "" when they may.

        Raises:
            SlackFailedError: Slack cannot be asked now.
        """
        return why_not_here(self._client, self._home, channel_id)
