"""What the listeners need from the application: callables and plain values.

The wiring fills ``Handlers``; tests fill it with fakes. Answers come back rendered,
so a listener only carries them. Everything here may be called from several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from bot.ports import Json, Message, OutboxMessage
from bot.slack.grammar import Question
from policies.core.approvals import RequestEvent, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The installed workspace or organisation, and our own account in it.

    Attributes:
        enterprise_id: "" outside Enterprise Grid.
    """

    team_id: str
    bot_user_id: str
    enterprise_id: str = ""
    bot_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who did something in Slack and where, as Slack itself says.

    Attributes:
        team_id / enterprise_id: Of the person, not of the channel; "" when not said.
        channel_id: "" outside a conversation.
    """

    user_id: str
    team_id: str
    enterprise_id: str
    channel_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question somebody asked.

    Attributes:
        key: Identity of the delivery (trigger or event id): what changes something
            uses it so that a replay changes nothing.
    """

    asker: Asker
    question: Question
    now: datetime
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Click:
    """A press on an approval card; an identifier of a request, never an authority.

    Attributes:
        verdict: Of Approve and Deny; None for the other buttons.
        event: What another button asks to happen: ask, answer or edit.
        way: Which of the cheaper ways an edit switches to.
        reason: What was written in the card's box.
        message_ts: The card that was pressed; "" when Slack did not say.
    """

    asker: Asker
    request_id: str
    version: int
    verdict: Verdict | None
    message_ts: str
    now: datetime
    reason: str = ""
    event: RequestEvent | None = None
    way: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickOutcome:
    """What a press came to; the card itself is rewritten through the outbox.

    Attributes:
        note: Shown to the presser alone; None when the card says enough.
    """

    note: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Something refused before any use case saw it; to be put on record.

    Attributes:
        what: ``command``, ``mention``, ``click``.
        reason: ``other_organisation`` or ``forged_value``.
    """

    asker: Asker
    what: str
    reason: str
    now: datetime


Answer = Callable[[Ask], tuple[Message, ...]]


def _utc(_user_id: str) -> tzinfo:
    return UTC


def _not_seen(_kind: str, _key: str) -> bool:
    return False


def _no_setting(_asker: Asker, _name: str, _value: str) -> None:
    return


def _no_press(_click: object) -> tuple[Message, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Handlers:
    """Everything a listener may call.

    Attributes:
        now: The clock of rules and figures.
        answers: By verb of the grammar (``cost``, ``top``, ``team``, ``account``,
            ``estimate``, ``request``, ``approvals``, ``digest``, ``idle``,
            ``coverage``, ``checkpoints``, ``untagged``, ``why``, ``me``, ``budget``,
            ``pause``, ``resume``); a
            verb without an answer is said to be not available. ``help``, and a menu
            that nobody answers, are the listeners' own.
        click: Casts a vote; authority comes from the database and the directory.
        enqueue: Stores an effect in the outbox; False when its key is known.
        alert: Does what a button under an alert says (an ``AlertClick``).
        home: Returns somebody's home tab; None: there is none.
        priced: Says what a run of a form would cost; None: nothing can be said.
        setting: Keeps a choice on the home tab: its name and value.
        zone: The time zone of somebody by Slack id; UTC when it is not known.
        refused: Puts a refusal on record.
        seen: Records a delivery by kind and key; True when it was seen before.
        failed: Logs an exception without its payload and returns a reference.
    """

    now: Callable[[], datetime]
    click: Callable[[Click], ClickOutcome]
    enqueue: Callable[[OutboxMessage], bool]
    refused: Callable[[Refused], None]
    failed: Callable[[str, Exception], str]
    zone: Callable[[str], tzinfo] = _utc
    alert: Callable[[Any], tuple[Message, ...]] = _no_press
    home: Callable[[Asker], Json] | None = None
    setting: Callable[[Asker, str, str], None] = _no_setting
    priced: Callable[[Asker, Question], str] | None = None
    answers: Mapping[str, Answer] = field(default_factory=dict)
    seen: Callable[[str, str], bool] = _not_seen
