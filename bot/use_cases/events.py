"""Hear events of AWS: each once, whatever the order, and nothing lost on the way.

A message is done with when what it says is stored; until then the queue hands it out
again. What an event means for running time is for the fleet's side of the ledger.
Knows no queue's protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from billing.core.attribution import Belongings, TagKeys, belongings
from billing.core.event_messages import (
    EventKind,
    HeardEvent,
    UnreadableEventError,
    read_event,
)
from billing.core.fleet_events import FleetEvent, TagEvent
from billing.core.periods import Period, day_of
from billing.core.usage import ResourceKind, UsageInterval
from billing.ports import BillLedger
from billing.ports.events import EventLedger, QueuedMessage
from bot.ports import Outbox
from bot.use_cases.cards import post
from bot.use_cases.policies import Routing
from bot.views.events import Interruption, interruption_warning

#: A warning this old helps nobody any more; it is stored and not told.
TOLD_WITHIN = timedelta(minutes=15)
UNREADABLE = "unreadable"
AGAIN = "delivered again"
FOREIGN = "of another account or region"

Fact = FleetEvent | TagEvent


class EventUnit(Protocol):
    """One transaction, as far as events need it."""

    @property
    def ledger(self) -> BillLedger:
        """Return everything billing stores."""

    @property
    def outbox(self) -> Outbox:
        """Return stored effects."""

    @property
    def events(self) -> EventLedger:
        """Return which events were handled."""


class EventStore(Protocol):
    """Opens units of work."""

    def read(self) -> AbstractContextManager[EventUnit]:
        """Open a read-only unit."""

    def write(self) -> AbstractContextManager[EventUnit]:
        """Open a writing unit: commits at the end, rolls back on any error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ears:
    """What hearing needs besides the store.

    Attributes:
        accounts / regions: What gpucost reads; events of others teach nothing.
        keys: Which tags name job, team and owner.
        learn: Teaches the fleet's side; the same facts again change nothing.
        routing: Where notices for some owners go.
    """

    accounts: frozenset[str]
    regions: frozenset[str]
    keys: TagKeys
    learn: Callable[[Sequence[Fact]], None]
    routing: Callable[[set[str]], Routing]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """What became of some messages.

    Attributes:
        done: Messages to delete: what they say is stored, or of no use.
        unreadable: Ids of messages that stay until the queue moves them aside.
        counts: Messages by what became of them.
    """

    done: tuple[QueuedMessage, ...] = ()
    unreadable: tuple[str, ...] = ()
    counts: Mapping[str, int]


def hear(
    store: EventStore, messages: Sequence[QueuedMessage], ears: Ears, *, now: datetime
) -> Hearing:
    """Handle messages of a queue; what is done may be deleted once this returned."""
    readable, unreadable = _read_all(messages)
    new, counts = _new_ones(store, readable, ears)
    facts = [event.fact for event in new if event.fact is not None]
    if facts:
        ears.learn(facts)
    warnings = _warnings(store, new, ears, now)
    counts.update(one.kind.value for one in new)
    counts[UNREADABLE] += sum(one.deliveries == 1 for one in unreadable)
    with store.write() as unit:
        stored = unit.events.record(new, now)
        for event, channel, people, warned in warnings:
            if event.event_id in stored:
                message = interruption_warning(warned, people=people, now=now)
                key = f"interruption:{event.event_id}"
                unit.outbox.put(post(key, channel, message), now)
        unit.events.count(+counts, day_of(now))
    return Hearing(
        done=tuple(message for message, _ in readable),
        unreadable=tuple(one.message_id for one in unreadable if one.deliveries == 1),
        counts=+counts,
    )


def _read_all(
    messages: Sequence[QueuedMessage],
) -> tuple[list[tuple[QueuedMessage, HeardEvent]], list[QueuedMessage]]:
    readable: list[tuple[QueuedMessage, HeardEvent]] = []
    unreadable: list[QueuedMessage] = []
    for message in messages:
        try:
            readable.append((message, read_event(message.body)))
        except UnreadableEventError:
            unreadable.append(message)
    return readable, unreadable


def _new_ones(
    store: EventStore,
    readable: Sequence[tuple[QueuedMessage, HeardEvent]],
    ears: Ears,
) -> tuple[list[HeardEvent], Counter[str]]:
    """Return each event not handled before, in the order of their own times."""
    counts: Counter[str] = Counter()
    with store.read() as unit:
        known = set(unit.events.known({event.event_id for _, event in readable}))
    new: list[HeardEvent] = []
    for _, event in readable:
        if event.account not in ears.accounts or event.region not in ears.regions:
            counts[FOREIGN] += 1
        elif event.event_id in known:
            counts[AGAIN] += 1
        else:
            known.add(event.event_id)
            new.append(event)
    return sorted(new, key=lambda event: (event.at, event.event_id)), counts


_Warning = tuple[HeardEvent, str, Mapping[str, str], Interruption]


def _warnings(
    store: EventStore, new: Sequence[HeardEvent], ears: Ears, now: datetime
) -> list[_Warning]:
    """Return what is to be told, where, and who is known there."""
    due = [
        event
        for event in new
        if event.kind is EventKind.INTERRUPTION and now - event.at <= TOLD_WITHIN
    ]
    if not due:
        return []
    with store.read() as unit:
        warned = [
            (event, _interruption(unit.ledger, event, ears.keys, now)) for event in due
        ]
    # People are looked up in Slack, which no transaction may wait for.
    routing = ears.routing({one.owner for _, one in warned if one.owner})
    found = []
    for event, one in warned:
        channel = routing.teams.get(one.team, "") or routing.alerts
        if channel:
            found.append((event, channel, routing.owners, one))
    return found


def _interruption(
    ledger: BillLedger, event: HeardEvent, keys: TagKeys, now: datetime
) -> Interruption:
    spans = ledger.tags([event.resource_id])
    whose = belongings(
        {span.key: span.value for span in spans if span.valid_to is None}, keys
    )
    record = ledger.job_record(whose.job) if whose.job else None
    running = _running(ledger, whose, now)
    mine = next((one for one in running if one.resource_id == event.resource_id), None)
    if mine is None:
        mine = _interval(ledger, event, now)
    return Interruption(
        instance=event.resource_id,
        instance_type=mine.shape if mine else "",
        account=event.account,
        region=event.region,
        zone=mine.zone if mine else "",
        action=event.state,
        at=event.at,
        until=event.until or event.at,
        job=whose.job,
        team=whose.team or (record.team if record else ""),
        owner=whose.owner or (record.owner if record else ""),
        started_at=mine.started_at if mine else None,
        others=_others(running, event) if whose.job else None,
    )


def _running(
    ledger: BillLedger, whose: Belongings, now: datetime
) -> list[UsageInterval]:
    """Return the instances that run for a job now; none for no job."""
    if not whose.job:
        return []
    return [
        one
        for one in ledger.intervals(Period(now, now), job=whose.job)
        if one.ended_at is None and one.kind is ResourceKind.INSTANCE
    ]


def _interval(
    ledger: BillLedger, event: HeardEvent, now: datetime
) -> UsageInterval | None:
    """Return what ran on an instance that no job's tag is on."""
    for one in ledger.intervals(Period(now, now)):
        if one.resource_id == event.resource_id and one.ended_at is None:
            return one
    return None


def _others(running: Sequence[UsageInterval], event: HeardEvent) -> int:
    return sum(one.resource_id != event.resource_id for one in running)
