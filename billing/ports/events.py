"""The queue of events and the memory of those heard, as protocols; no boto3, no SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Protocol

from billing.core.event_messages import HeardEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    """One message as a queue handed it out.

    Attributes:
        receipt: What deletes this delivery of it.
        body: Its text, which no log may hold.
        deliveries: How often the queue has handed it out, this time included.
    """

    message_id: str
    receipt: str = field(repr=False)
    body: str = field(repr=False)
    deliveries: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """How a queue stands.

    Attributes:
        waiting: Messages not handed out, about; None when the queue did not say.
        moves_aside: Whether what cannot be read is moved to another queue in the end.
    """

    waiting: int | None
    moves_aside: bool


class EventQueue(Protocol):
    """Where events wait until somebody has stored what they say."""

    def receive(self) -> Sequence[QueuedMessage]:
        """Wait a while for messages and take up to ten; often none.

        Raises:
            SourceUnavailableError: The queue is missing, closed to us or out of reach.
        """

    def delete(self, messages: Sequence[QueuedMessage]) -> int:
        """Delete messages that were handled; return how many could not be deleted."""

    def state(self) -> QueueState:
        """Return how the queue stands; raises as `receive` does."""


class EventLedger(Protocol):
    """Which events were handled, within one unit of work."""

    def known(self, event_ids: Collection[str]) -> frozenset[str]:
        """Return which of these were handled before."""

    def record(self, events: Sequence[HeardEvent], now: datetime) -> frozenset[str]:
        """Remember events as handled; return the ids that were new."""

    def count(self, counts: Mapping[str, int], day: date) -> None:
        """Add to the numbers of messages of a UTC day, by what became of them."""

    def counted(self, day: date) -> Mapping[str, int]:
        """Return the numbers of messages of a UTC day."""
