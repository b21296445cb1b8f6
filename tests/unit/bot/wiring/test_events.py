"""The thread that takes events: nothing is deleted before it is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.charges import Source
from billing.ledger.database import DatabaseUnavailableError
from billing.ports import Freshness, SourceUnavailableError
from billing.ports.events import QueuedMessage, QueueState
from bot.settings import load_settings
from bot.use_cases.policies import Routing
from bot.wiring import events
from bot.wiring.application import Application
from bot.wiring.events import EventIntake, event_checks
from tests.builders import at
from tests.builders_events import ACCOUNT, AT, REGION, state_body

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bot.unit_of_work import SqlStore

NOW = at(AT)


@dataclass
class FakeQueue:
    """A queue in memory; what is deleted is gone."""

    messages: list[QueuedMessage] = field(default_factory=list)
    failure: Exception | None = None
    asked: int = 0

    def receive(self) -> Sequence[QueuedMessage]:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return [*self.messages[:10]]

    def delete(self, messages: Sequence[QueuedMessage]) -> int:
        self.messages = [one for one in self.messages if one not in messages]
        return 0

    def state(self) -> QueueState:
        if self.failure is not None:
            raise self.failure
        return QueueState(waiting=len(self.messages), moves_aside=False)


class FakeAws:
    """What the intake asks of AWS: which places are read."""

    accounts = (ACCOUNT,)
    regions = (REGION,)


def message(number: int, body: str) -> QueuedMessage:
    return QueuedMessage(message_id=f"m-{number}", receipt=f"r-{number}", body=body)


@pytest.fixture
def application(store: SqlStore) -> Application:
    found = Application(settings=load_settings(), store=store, now=lambda: NOW)
    vars(found)["aws"] = FakeAws()
    return found


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Keep what the fleet would be taught; an instance `i-bad` cannot be."""
    kept: list[Any] = []

    def learn(application: Application, facts: Sequence[Any]) -> None:
        del application
        if any(one.resource_id == "i-bad" for one in facts):
            raise ValueError(facts)
        kept.extend(facts)

    monkeypatch.setattr(events, "learn", learn)
    return kept


def intake(application: Application, queue: FakeQueue) -> EventIntake:
    return EventIntake(
        application, queue, route=lambda _owners: Routing(alerts=""), stop=Event()
    )


def freshness(store: SqlStore) -> Freshness | None:
    with store.read() as unit:
        known = unit.ledger.freshness()
    return next((one for one in known if one.source is Source.EVENTS), None)


def test_what_was_stored_is_deleted(
    application: Application, learned: list[Any]
) -> None:
    queue = FakeQueue([message(1, state_body("running"))])

    done = intake(application, queue).listen_once()

    assert done == 1
    assert queue.messages == []
    assert len(learned) == 1


def test_one_that_cannot_be_handled_keeps_no_other_back(
    application: Application, learned: list[Any]
) -> None:
    bad = message(2, state_body("running", instance="i-bad", event_id="bad"))
    queue = FakeQueue(
        [message(1, state_body("running")), bad, message(3, "{unreadable")]
    )

    done = intake(application, queue).listen_once()

    assert done == 1
    assert [one.message_id for one in queue.messages] == ["m-2", "m-3"]
    assert len(learned) == 1


def test_nothing_is_deleted_when_it_could_not_be_stored(
    application: Application, learned: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = FakeQueue([message(1, state_body("running"))])

    def refuse(*_: Any) -> None:
        reason = "disk is full"
        raise DatabaseUnavailableError(reason)

    monkeypatch.setattr("billing.ledger.events.SqlEvents.record", refuse)
    with pytest.raises(DatabaseUnavailableError):
        intake(application, queue).listen_once()

    assert len(queue.messages) == 1


def test_nothing_is_taken_while_the_database_is_away(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = FakeQueue([message(1, state_body("running"))])

    def refuse(*_: Any) -> None:
        reason = "no route"
        raise DatabaseUnavailableError(reason)

    monkeypatch.setattr("bot.unit_of_work.SqlStore.read", refuse)
    with pytest.raises(DatabaseUnavailableError):
        intake(application, queue).listen_once()

    assert queue.asked == 0


def test_what_comes_while_it_stops_is_left_to_the_queue(
    application: Application, learned: list[Any]
) -> None:
    queue = FakeQueue([message(1, state_body("running"))])
    stopping = intake(application, queue)
    stopping.stop.set()

    assert stopping.listen_once() == 0
    assert len(queue.messages) == 1
    assert learned == []


def test_a_closed_queue_is_said_once_and_forgotten_when_it_opens(
    application: Application, store: SqlStore
) -> None:
    queue = FakeQueue()
    listening = intake(application, queue)
    listening.listen_once()
    closed = SourceUnavailableError("events", "sqs:ReceiveMessage failed: AccessDenied")

    listening._failed(closed)
    during = freshness(store)
    listening.listen_once()
    after = freshness(store)

    assert during is not None
    assert during.reason == "sqs:ReceiveMessage failed: AccessDenied"
    assert during.as_of == NOW
    assert after is not None
    assert after.reason == ""


def test_without_a_queue_the_doctor_says_nothing(application: Application) -> None:
    assert event_checks(application) == []


def test_the_doctor_names_a_queue_that_moves_nothing_aside(
    store: SqlStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gpucost.yaml"
    url = f"https://sqs.us-east-1.amazonaws.com/{ACCOUNT}/gpucost-events"
    path.write_text(f"aws: {{events: {{queue_url: '{url}'}}}}")
    found = Application(settings=load_settings(str(path)), store=store, now=lambda: NOW)
    queue = FakeQueue()
    monkeypatch.setattr(events, "event_queue", lambda _application: queue)

    with store.write() as unit:
        unit.events.count({"unreadable": 2, "instance state": 7}, NOW.date())
    well = event_checks(found)
    queue.failure = SourceUnavailableError("events", "no such queue")
    ill = event_checks(found)

    assert [(one.name, one.ok) for one in well] == [
        ("event queue", True),
        ("event queue redrive", None),
    ]
    assert well[0].message == "about 0 waiting, 7 handled today, 2 could not be read"
    assert [(one.ok, one.message) for one in ill] == [(False, "no such queue")]
