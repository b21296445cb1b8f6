"""What use cases need besides billing and policies: a transaction, effects, people.

``UnitOfWork`` is the one owner of a transaction across the packages: a vote, its
audit event and its outbox row commit together or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from billing.ports import BillLedger, RequestMeter
from bot.views.answers import ApiToken, Json, Message
from bot.views.slack_values import Alert, Feedback, Subscription, Wishes
from policies.core.approvals import Person
from policies.ports import Journal

__all__ = ["ApiToken", "Json", "Message"]  # rendered by views, carried by ports


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxMessage:
    """One Slack effect to make exactly once.

    Attributes:
        key: Identity of the effect; the same key is never stored twice.
        kind: ``post``, ``update`` or ``ephemeral``.
        channel: Channel id or name; a user id opens a direct message.
        payload: ``text``, ``blocks`` and whatever the method takes besides.
        ref: For ``update``: the key of the post to rewrite.
        user: For ``ephemeral``: who sees it.
        thread_of: Key of the post whose thread this goes to; "" for none.
    """

    key: str
    kind: str
    channel: str
    payload: Json
    ref: str = ""
    user: str = ""
    thread_of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxRow:
    """A stored effect.

    Attributes:
        state: ``pending``, ``sending``, ``sent``, ``failed`` or ``superseded`` (a newer
            rewrite of the same post took its place).
        slack_ts / slack_channel: Where Slack put it, once sent.
    """

    row_id: int
    message: OutboxMessage
    state: str
    attempts: int
    created_at: datetime
    next_attempt_at: datetime
    slack_channel: str = ""
    slack_ts: str = ""
    error: str = ""


class Outbox(Protocol):
    """Slack effects, stored before they are made."""

    def put(self, message: OutboxMessage, now: datetime) -> bool:
        """Store an effect; False when its key is already there (nothing changes).

        A store with a clock of its own for effects times them by that one.
        """

    def claim(self, now: datetime, *, worker: str, limit: int) -> Sequence[OutboxRow]:
        """Mark due rows ``sending`` for a worker and return them, oldest first per channel."""

    def stranded(
        self, before: datetime, *, worker: str = "", now: datetime | None = None
    ) -> Sequence[OutboxRow]:
        """Return rows still ``sending`` since before an instant: look before resending.

        With a worker they become its own: whoever held them cannot settle them any more.
        """

    def sent(
        self,
        row_id: int,
        *,
        channel: str,
        ts: str,
        now: datetime,
        attempt: int | None = None,
    ) -> bool:
        """Record that Slack confirmed an effect; False when the claim was lost.

        ``attempt`` is the row's ``attempts`` as claimed; it guards against a later claim.
        """

    def retry(
        self, row_id: int, *, at: datetime, error: str, attempt: int | None = None
    ) -> bool:
        """Put an effect back to be tried at an instant; False when the claim was lost."""

    def failed(
        self, row_id: int, *, error: str, now: datetime, attempt: int | None = None
    ) -> bool:
        """Record that an effect can never be made, and why; False when it was settled."""

    def find(self, key: str) -> OutboxRow | None:
        """Return the row of a key."""

    def depth(self) -> Mapping[str, int]:
        """Return the number of rows by state."""


class Audit(Protocol):
    """The append-only, HMAC-chained record of who decided what."""

    def append(
        self,
        event: str,
        *,
        actor: str,
        subject: str,
        data: Mapping[str, Any],
        now: datetime,
    ) -> None:
        """Add one event; `data` must be JSON and hold pseudonyms, not names."""

    def verify(self) -> Sequence[str]:
        """Return what is wrong with the chain, first broken link first; empty when whole."""

    def head(self) -> tuple[int, str]:
        """Return the number of events and the hash of the last one."""

    def hash_at(self, seq: int) -> str | None:
        """Return the hash of an event; None when there is none of that number."""

    def events(self, after: int, *, limit: int) -> Sequence[Mapping[str, Any]]:
        """Return events after a number, oldest first, with their hashes."""


class People(Protocol):
    """Pseudonyms for people; names live here, apart from the audit chain."""

    def remember(self, *, slack_id: str = "", email: str = "", name: str = "") -> str:
        """Return the pseudonym of somebody, creating it when new."""

    def lookup(self, person_id: str) -> Mapping[str, str] | None:
        """Return ``slack_id``, ``email`` and ``name`` of a pseudonym; None when removed."""


class Slots(Protocol):
    """Scheduled work claimed once, whichever replica comes first."""

    def last_done(self, schedule: str) -> datetime | None:
        """Return the newest slot of a schedule that was finished."""

    def claim(
        self, schedule: str, slot: datetime, *, owner: str, now: datetime, lease_s: int
    ) -> bool:
        """Claim a (schedule, slot); True for one owner only, again after a lapsed lease."""

    def renew(
        self, schedule: str, slot: datetime, *, owner: str, now: datetime, lease_s: int
    ) -> bool:
        """Set the end of a held lease (0 gives the slot back); False when it was lost."""

    def finish(
        self,
        schedule: str,
        slot: datetime,
        *,
        owner: str,
        now: datetime,
        error: str = "",
    ) -> bool:
        """Record the end of a claimed slot; False when the claim was lost meanwhile."""


class Control(Protocol):
    """Small durable switches, read by every replica."""

    def paused(self) -> Mapping[str, str] | None:
        """Return ``by``, ``since``, ``reason`` while actions are paused; None otherwise."""

    def pause(self, *, by: str, reason: str, now: datetime) -> None:
        """Stop every action of every replica."""

    def resume(self, *, by: str, now: datetime) -> None:
        """Allow actions again."""

    def noted(self, name: str) -> str | None:
        """Return the text last noted under a name; None when there is none."""

    def note(self, name: str, value: str, now: datetime) -> None:
        """Keep a text under a name in place of the one before."""

    def seen(self, kind: str, key: str, now: datetime) -> bool:
        """Record a delivery (Slack event, signed request); True when it was seen before."""


class Tokens(Protocol):
    """Bearer tokens of the HTTP side."""

    def add(self, token: ApiToken) -> None:
        """Store a new token."""

    def find(self, token_id: str) -> ApiToken | None:
        """Return the token of an id; None when there is none."""

    def all(self) -> Sequence[ApiToken]:
        """Return every token, oldest first."""

    def revoke(self, token_id: str, now: datetime) -> bool:
        """End a token; False when there is no such token that still held."""

    def used(self, token_id: str, now: datetime) -> None:
        """Record when a token was used."""


class Alerts(Protocol):
    """Messages about findings, and what people said of them."""

    def find(self, fingerprint: str) -> Alert | None:
        """Return the newest alert about a finding."""

    def live(self) -> Sequence[Alert]:
        """Return alerts whose finding is open, oldest first."""

    def members(self, group: str) -> Sequence[Alert]:
        """Return the alerts in the thread of a message, by key."""

    def put(self, alert: Alert) -> None:
        """Store an alert, or what became of it."""

    def add_feedback(self, feedback: Feedback) -> bool:
        """Store somebody's word; False when they gave it before."""

    def feedback(self, since: datetime, until: datetime) -> Sequence[Feedback]:
        """Return what people said in a half-open span, oldest first."""


class Subscriptions(Protocol):
    """Digests that people asked for in Slack."""

    def all(self) -> Sequence[Subscription]:
        """Return those that did not end, oldest first."""

    def add(self, wanted: Subscription) -> Subscription:
        """Store one, or return the live one that says the same."""

    def end(self, number: int, now: datetime) -> bool:
        """End one; False when there is no such live one."""

    def trouble(self, number: int, problem: str) -> None:
        """Note why one is not sent; "" when it is again."""


class PeopleWishes(Protocol):
    """How people want to be told, by pseudonym."""

    def of(self, person_id: str) -> Wishes:
        """Return somebody's wishes; the default when they never said."""

    def put(self, person_id: str, wishes: Wishes) -> None:
        """Store somebody's wishes."""


class UnitOfWork(Protocol):
    """One transaction over everything stored."""

    @property
    def ledger(self) -> BillLedger: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def people(self) -> People: ...
    @property
    def slots(self) -> Slots: ...
    @property
    def control(self) -> Control: ...
    @property
    def tokens(self) -> Tokens: ...
    @property
    def alerts(self) -> Alerts: ...
    @property
    def subscriptions(self) -> Subscriptions: ...
    @property
    def wishes(self) -> PeopleWishes: ...


class Store(Protocol):
    """Opens units of work."""

    def read(self) -> AbstractContextManager[UnitOfWork]:
        """Open a read-only unit (a deferred transaction; sees one snapshot)."""

    def write(self) -> AbstractContextManager[UnitOfWork]:
        """Open a writing unit: commits at the end, rolls back on any error."""

    @property
    def meter(self) -> RequestMeter:
        """Return the request meter, which commits on its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostResult:
    """Where Slack put a message."""

    channel: str
    ts: str


class SlackFailedError(Exception):
    """Slack refused or could not be reached.

    Attributes:
        code: Slack's error code, or ``unreachable``.
        retry_after_s: What Slack asked to wait; None when it did not.
        may_have_happened: True when the effect may exist although no answer came.
        is_final: True when trying again cannot help.
    """

    def __init__(
        self,
        code: str,
        *,
        retry_after_s: float | None = None,
        may_have_happened: bool = False,
        is_final: bool = False,
    ) -> None:
        super().__init__(f"slack: {code}")
        self.code = code
        self.retry_after_s = retry_after_s
        self.may_have_happened = may_have_happened
        self.is_final = is_final


class Notifier(Protocol):
    """Makes Slack effects; never decides whether they should be made."""

    def deliver(
        self, message: OutboxMessage, *, target_ts: str = "", thread_ts: str = ""
    ) -> PostResult:
        """Make one effect, with the key in the message's metadata.

        Raises:
            SlackFailedError: With what can be said about it.
        """

    def find_posted(self, message: OutboxMessage, since: datetime) -> PostResult | None:
        """Look in the channel's history for a message carrying the key."""


class Directory(Protocol):
    """People and groups as Slack knows them right now."""

    def person(self, slack_id: str) -> Person | None:
        """Return somebody by Slack id; None when Slack does not know them."""

    def person_by_email(self, email: str) -> Person | None:
        """Return somebody by e-mail."""

    def resolve(self, names: Sequence[str]) -> tuple[frozenset[str], Sequence[str]]:
        """Expand ``@user``, ``@group``, ids and e-mails to Slack ids, and name what failed."""
