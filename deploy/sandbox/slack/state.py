"""Everything the workspace remembers, behind one lock.

Holds messages, views, files and the log of calls. Enforces no rule of the Web
API; that is the methods' part. Whoever changes something calls `touch`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from deploy.sandbox.slack.clock import Clock, TsSource
from deploy.sandbox.slack.directory import Directory
from deploy.sandbox.slack.limits import PostLimit
from deploy.sandbox.slack.mentions import mentions_of
from deploy.sandbox.slack.messages import Message, View
from deploy.sandbox.slack.model import Channel, Json, Workspace

TRIGGER_LIFE = timedelta(seconds=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """One call of the app, as it was answered; `args` holds no token."""

    method: str
    args: Json
    ok: bool
    error: str | None
    at: datetime


@dataclass(slots=True, kw_only=True)
class Trigger:
    """A trigger id: good for one view within three seconds."""

    user: str
    issued_at: datetime
    used: bool = False
    view_id: str | None = None


@dataclass(slots=True, kw_only=True)
class StoredFile:
    """A file that was announced, then uploaded, then shared."""

    id: str
    name: str
    length: int
    content: bytes | None = None
    title: str = ""
    shared_in: list[str] = field(default_factory=list)


class State:
    """The memory of the workspace."""

    def __init__(
        self, workspace: Workspace, *, clock: Clock, post_limit: PostLimit
    ) -> None:
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.workspace = workspace
        self.app = workspace.app
        self.directory = Directory(workspace)
        self.clock = clock
        self.post_limit = post_limit
        self.base_url = ""
        self.accepts_data_blocks = True
        self.auth_error: str | None = None
        self.revision = 0
        self.messages: list[Message] = []
        self.views: dict[str, View] = {}
        self.homes: dict[str, View] = {}
        self.files: dict[str, StoredFile] = {}
        self.calls: list[ApiCall] = []
        self._triggers: dict[str, Trigger] = {}
        self._ts = TsSource(clock)
        self._serial = 0

    def touch(self) -> None:
        """Say that something changed; wakes everybody who waits."""
        with self.changed:
            self.revision += 1
            self.changed.notify_all()

    def wait_for(self, predicate: Callable[[], Any], timeout_s: float) -> object:
        """Return the first truthy value of `predicate`, tried after each change.

        Raises:
            TimeoutError: it stayed false for `timeout_s` seconds.
        """
        with self.changed:
            value = self.changed.wait_for(predicate, timeout_s)
        if not value:
            message = f"nothing fitting happened in {timeout_s:g} s"
            raise TimeoutError(message)
        return value

    def next_ts(self) -> str:
        """Return a new message timestamp."""
        with self.lock:
            return self._ts.next()

    def next_id(self, prefix: str) -> str:
        """Return a new id that nothing else in this workspace has."""
        with self.lock:
            self._serial += 1
            return f"{prefix}{self._serial:08X}"

    def issue_trigger(self, user: str) -> str:
        """Return a new trigger id for one person."""
        with self.lock:
            trigger_id = f"{self.next_ts()}.{self.next_id('TR').lower()}"
            trigger = Trigger(user=user, issued_at=self.clock())
            self._triggers[trigger_id] = trigger
            return trigger_id

    def use_trigger(self, trigger_id: str) -> Trigger | str:
        """Spend a trigger id: the trigger, or Slack's code for why not."""
        with self.lock:
            trigger = self._triggers.get(trigger_id)
            if trigger is None:
                return "invalid_trigger_id"
            if trigger.used:
                return "exchanged_trigger_id"
            if self.clock() - trigger.issued_at > TRIGGER_LIFE:
                return "expired_trigger_id"
            trigger.used = True
            return trigger

    def view_of_trigger(self, trigger_id: str) -> View | None:
        """Return the view that was opened with a trigger id, if any."""
        with self.lock:
            trigger = self._triggers.get(trigger_id)
            return self.views.get(trigger.view_id or "") if trigger else None

    def add_message(self, message: Message, *, parse_full: bool = False) -> Message:
        """Store a message with what its text would have triggered."""
        with self.lock:
            self.name_blocks(message.blocks)
            self.read_mentions(message, parse_full=parse_full)
            self.messages.append(message)
            self.touch()
            return message

    def read_mentions(self, message: Message, *, parse_full: bool = False) -> None:
        """Note again what the text and blocks of a message would trigger."""
        content = {
            "text": message.text,
            "blocks": message.blocks,
            "attachments": message.attachments,
        }
        message.mentions = mentions_of(content, parse_full=parse_full)

    def name_blocks(self, blocks: list[Json]) -> None:
        """Give ids to blocks and elements that came without, as Slack does."""
        for block in blocks:
            block.setdefault("block_id", self.next_id("b"))
            elements = [*(block.get("elements") or ()), block.get("accessory")]
            for element in [*elements, block.get("element")]:
                is_element = isinstance(element, dict) and element.get("type")
                if is_element and _is_interactive(element):
                    element.setdefault("action_id", self.next_id("a"))

    def find_message(self, channel: str, ts: str) -> Message | None:
        """Find a message that everybody in a channel sees and nobody deleted."""
        with self.lock:
            for message in reversed(self.messages):
                is_here = message.channel == channel and message.ts == ts
                if is_here and not message.deleted and message.ephemeral_to is None:
                    return message
        return None

    def in_channel(self, channel: Channel) -> list[Message]:
        """List what everybody in a channel sees, oldest first."""
        with self.lock:
            return [
                message
                for message in self.messages
                if message.channel == channel.id
                and message.ephemeral_to is None
                and not message.deleted
            ]

    def view_ids(self) -> Json:
        """Return the ids that every view carries."""
        return {
            "team_id": self.workspace.team_id,
            "app_id": self.app.id,
            "app_installed_team_id": self.workspace.team_id,
            "bot_id": self.app.bot_id,
        }


def _is_interactive(element: Json) -> bool:
    return element["type"] not in {"mrkdwn", "plain_text", "image"} and not str(
        element["type"]
    ).startswith("rich_text_")
