"""What Slack's side remembers: alerts, feedback, subscriptions, wishes. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """The message about one finding, from when it opened until it is over.

    Attributes:
        key: Outbox key of the message; it is rewritten, never posted again.
        group: Outbox key of the message in whose thread it stands; "" for none.
        face: What the message says now, as a short hash.
        changed_at: When that was last queued.
        resolved_at: When the finding ended; None while it is open.
        snoozed_until: Until when nobody is reminded; None when nobody asked for it.
    """

    key: str
    fingerprint: str
    opened_at: datetime
    channel: str
    group: str = ""
    face: str = ""
    changed_at: datetime
    resolved_at: datetime | None = None
    snoozed_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Somebody's word that a finding is none.

    Attributes:
        opened_at: When the finding opened; one word of one person for each opening.
        by: Pseudonym of who said it.
    """

    fingerprint: str
    opened_at: datetime
    policy: str
    job: str
    subject: str
    by: str
    said_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A digest that somebody asked for in Slack.

    Attributes:
        number: Given by the store; 0 before.
        channel: Slack's id.
        every: ``day``, ``week`` or ``month``.
        weekday: Of a weekly one; Monday is 0.
        zone: Name of the time zone that ``at`` is in.
        team: "" for everything.
        by: Pseudonym of who asked.
        problem: Why it is not sent any more; "" while it is.
    """

    channel: str
    every: str
    weekday: int
    at: time
    zone: str
    team: str
    by: str
    created_at: datetime
    number: int = 0
    problem: str = ""

    @property
    def schedule(self) -> str:
        """Return the name of its schedule among the slots."""
        return f"subscription:{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How somebody wants to be told; the default is what everybody has at first.

    Attributes:
        mentions: Whether alerts mention them.
        quiet_from / quiet_until: Hours of their day without mentions; None for none.
    """

    mentions: bool = True
    quiet_from: time | None = None
    quiet_until: time | None = None
