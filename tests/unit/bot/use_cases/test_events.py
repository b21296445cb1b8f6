"""Events are handled once, in any order; a warning reaches the owner of the job."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from billing.core.attribution import TagKeys
from billing.core.fleet import Lifecycle
from billing.core.fleet_events import FleetEvent, FleetState
from billing.core.periods import day_of
from billing.ports.events import QueuedMessage
from bot.use_cases.events import Ears, Fact, Hearing, hear
from bot.use_cases.policies import Routing
from tests.builders import at, make_instance, make_observation
from tests.builders_events import (
    ACCOUNT,
    AT,
    INSTANCE,
    REGION,
    event_body,
    interruption_body,
    state_body,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.unit_of_work import SqlStore

NOW = at(AT) + timedelta(seconds=3)
ROUTING = Routing(
    alerts="#gpu-costs", teams={"nlp": "#nlp"}, owners={"mia@example.com": "U0MIA"}
)


@dataclass
class Scene:
    """A store, what was learned, and who was looked up."""

    store: SqlStore
    learned: list[Fact] = field(default_factory=list)
    asked: list[set[str]] = field(default_factory=list)
    routing: Routing = ROUTING

    def hear(self, *bodies: str | QueuedMessage, now: Any = NOW) -> Hearing:
        messages = [
            body if isinstance(body, QueuedMessage) else message(body, str(number))
            for number, body in enumerate(bodies)
        ]
        ears = Ears(
            accounts=frozenset({ACCOUNT}),
            regions=frozenset({REGION}),
            keys=TagKeys(),
            learn=self._learn,
            routing=self._route,
        )
        return hear(self.store, messages, ears, now=now)

    def _learn(self, facts: Sequence[Fact]) -> None:
        self.learned += facts

    def _route(self, owners: set[str]) -> Routing:
        self.asked.append(owners)
        return self.routing

    def posts(self) -> list[Any]:
        with self.store.write() as unit:
            return [
                row.message for row in unit.outbox.claim(NOW, worker="test", limit=100)
            ]

    def counted(self) -> dict[str, int]:
        with self.store.read() as unit:
            return dict(unit.events.counted(day_of(NOW)))


def message(body: str, name: str = "m-1", deliveries: int = 1) -> QueuedMessage:
    return QueuedMessage(
        message_id=name, receipt=f"r-{name}", body=body, deliveries=deliveries
    )


@pytest.fixture
def scene(any_store: SqlStore) -> Scene:
    """Lay out a job of two spot instances, and one without a tag."""
    tags = {"job-id": "job-123", "owner": "mia@example.com", "team": "nlp"}
    ours = [
        make_instance(
            resource_id=f"i-0000000000000000{number}",
            account=ACCOUNT,
            lifecycle=Lifecycle.SPOT,
            launched=at(AT) - timedelta(hours=5),
            tags=tags if number < 3 else {},
        )
        for number in (1, 2, 3)
    ]
    seen = make_observation(*ours, observed=at(AT) - timedelta(minutes=1))
    with any_store.write() as unit:
        unit.ledger.apply_observation(seen)
    return Scene(any_store)


def test_an_event_teaches_the_fleet_and_is_done_with(scene: Scene) -> None:
    found = scene.hear(state_body("terminated"))

    assert [one.message_id for one in found.done] == ["0"]
    (fact,) = scene.learned
    assert isinstance(fact, FleetEvent)
    assert (fact.resource_id, fact.state) == (INSTANCE, FleetState.TERMINATED)


def test_an_event_delivered_twice_is_handled_once(scene: Scene) -> None:
    scene.hear(interruption_body(), interruption_body())
    found = scene.hear(interruption_body())

    assert len(scene.learned) == 1
    assert len(scene.posts()) == 1
    assert len(found.done) == 1
    assert scene.counted() == {"interruption warning": 1, "delivered again": 2}


def test_events_of_one_batch_teach_in_the_order_of_their_own_times(
    scene: Scene,
) -> None:
    scene.hear(
        state_body("terminated", event_id="late", at="2026-04-14T05:59:00Z"),
        state_body("shutting-down", event_id="early", at="2026-04-14T05:58:00Z"),
    )

    assert [fact.at.minute for fact in scene.learned] == [58, 59]


def test_a_spot_warning_reaches_the_owner_in_the_channel_of_the_team(
    scene: Scene,
) -> None:
    scene.hear(interruption_body())

    (told,) = scene.posts()
    text = str(told.payload["blocks"])
    assert told.channel == "#nlp"
    assert told.key == "interruption:e-1"
    assert scene.asked == [{"mia@example.com"}]
    assert "<@U0MIA>: AWS terminates `i-00000000000000001` at *06:02:00 UTC*" in text
    assert "in 2 minutes. Save a checkpoint now." in text
    assert "`job-123`" in text
    assert "1 other instance of the job" in text
    assert told.payload["text"] == "Spot interruption: job-123: in 2 minutes"


def test_a_warning_of_an_instance_without_a_job_goes_to_the_alerts(
    scene: Scene,
) -> None:
    scene.hear(interruption_body(instance="i-00000000000000003"))

    (told,) = scene.posts()
    assert told.channel == "#gpu-costs"
    assert "none: no job tag" in str(told.payload["blocks"])
    assert "p5.48xlarge" in str(told.payload["blocks"])


def test_a_warning_of_an_instance_nobody_knows_is_told_with_what_is_known(
    scene: Scene,
) -> None:
    scene.hear(interruption_body(instance="i-0000000000000000f"))

    (told,) = scene.posts()
    assert "`i-0000000000000000f`" in str(told.payload["blocks"])


def test_a_warning_that_comes_too_late_is_stored_and_not_told(scene: Scene) -> None:
    found = scene.hear(interruption_body(), now=NOW + timedelta(hours=1))

    assert scene.posts() == []
    assert len(found.done) == 1
    assert len(scene.learned) == 1


def test_without_a_channel_nothing_is_posted(scene: Scene) -> None:
    scene.routing = Routing(alerts="")

    found = scene.hear(interruption_body())

    assert scene.posts() == []
    assert len(found.done) == 1


def test_a_rebalance_recommendation_is_counted_and_not_told(scene: Scene) -> None:
    name = "EC2 Instance Rebalance Recommendation"

    scene.hear(event_body(name, {"instance-id": INSTANCE}))

    assert scene.posts() == []
    assert scene.counted() == {"rebalance recommendation": 1}


def test_what_cannot_be_read_stays_and_keeps_nothing_back(scene: Scene) -> None:
    found = scene.hear("{broken", state_body("stopped"), "[" * 100_000)

    assert [one.message_id for one in found.done] == ["1"]
    assert found.unreadable == ("0", "2")
    assert len(scene.learned) == 1


def test_what_cannot_be_read_is_named_and_counted_at_its_first_delivery(
    scene: Scene,
) -> None:
    scene.hear(message("{broken"))

    found = scene.hear(message("{broken", deliveries=2))

    assert found.unreadable == ()
    assert scene.counted() == {"unreadable": 1}


@pytest.mark.parametrize("place", [{"account": "999999999999"}, {"region": "eu-1"}])
def test_events_of_places_that_are_not_read_teach_nothing(
    scene: Scene, place: dict[str, Any]
) -> None:
    found = scene.hear(interruption_body(**place))

    assert scene.learned == []
    assert scene.posts() == []
    assert len(found.done) == 1
    assert scene.counted() == {"of another account or region": 1}


def test_nothing_is_done_when_the_fleet_cannot_be_taught(scene: Scene) -> None:
    def refuse(facts: Sequence[Fact]) -> None:
        raise RuntimeError(facts)

    scene._learn = refuse  # type: ignore[method-assign]
    with pytest.raises(RuntimeError):
        scene.hear(interruption_body())

    del scene._learn
    scene.hear(interruption_body())

    assert len(scene.posts()) == 1


def test_handled_events_are_forgotten_when_they_cannot_come_again(
    scene: Scene,
) -> None:
    scene.hear(state_body("running"))

    scene.hear(state_body("stopped", event_id="e-2"), now=NOW + timedelta(days=31))

    with scene.store.read() as unit:
        assert unit.events.known({"e-1", "e-2"}) == {"e-2"}
