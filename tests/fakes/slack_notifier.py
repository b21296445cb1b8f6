"""A notifier that remembers what was made and fails when told to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.ports import OutboxMessage, PostResult, SlackFailedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime


class KilledError(BaseException):
    """The process died at this instruction."""


@dataclass(slots=True)
class FakeNotifier:
    """A Slack whose channels are lists.

    Attributes:
        failures: Raised by the next calls of `deliver`, before anything is made.
        losses: Raised by the next calls of `deliver`, after the effect was made.
        look_failures: Raised by the next calls of `find_posted`.
    """

    posts: list[tuple[OutboxMessage, str]] = field(default_factory=list)
    updates: list[tuple[OutboxMessage, str]] = field(default_factory=list)
    ephemerals: list[OutboxMessage] = field(default_factory=list)
    failures: list[BaseException] = field(default_factory=list)
    losses: list[BaseException] = field(default_factory=list)
    look_failures: list[SlackFailedError] = field(default_factory=list)
    looks: int = 0
    calls: int = 0
    hook: Callable[[], None] = lambda: None

    def deliver(
        self, message: OutboxMessage, *, target_ts: str = "", thread_ts: str = ""
    ) -> PostResult:
        self.calls += 1
        self.hook()
        if self.failures:
            raise self.failures.pop(0)
        ts = f"{self.calls}.0"
        if message.kind == "post":
            self.posts.append((message, thread_ts))
        elif message.kind == "update":
            self.updates.append((message, target_ts))
        else:
            self.ephemerals.append(message)
        if self.losses:
            raise self.losses.pop(0)
        return PostResult(channel=f"ID-{message.channel}", ts=ts)

    def find_posted(self, message: OutboxMessage, since: datetime) -> PostResult | None:
        self.looks += 1
        if self.look_failures:
            raise self.look_failures.pop(0)
        for number, (posted, _) in enumerate(self.posts, start=1):
            if posted.key == message.key:
                return PostResult(channel=f"ID-{message.channel}", ts=f"{number}.0")
        return None

    @property
    def keys(self) -> list[str]:
        return [message.key for message, _ in self.posts]
