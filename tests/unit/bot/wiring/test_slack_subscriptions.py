"""Digests by subscription: asked for in Slack, sent once for each time, refused abroad."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text as sql

from bot.ports import SlackFailedError
from bot.settings.sections import Config
from bot.slack.asked_again import FOREIGN
from bot.slack.grammar import Question, read_question
from bot.slack.handlers import Ask, Asker
from bot.wiring.slack_subscriptions import Sender, SubscriptionAnswers
from tests.builders_bot import make_digest, shown
from tests.fakes.directory import InMemoryDirectory, make_person

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

#: A Sunday, 20:00 UTC.
START = datetime(2026, 11, 29, 20, tzinfo=UTC)
HOUR = timedelta(hours=1)


class ZonedDirectory(InMemoryDirectory):
    """A directory whose people live in Oslo."""

    def zone(self, slack_id: str) -> ZoneInfo:
        del slack_id
        return ZoneInfo("Europe/Oslo")


@dataclass
class FakePlaces:
    refused: dict[str, str] = field(default_factory=dict)
    down: bool = False

    def id_of(self, channel: str) -> str:
        if channel == "#nowhere":
            raise SlackFailedError("channel_not_found", is_final=True)
        return {"#ml-infra": "C0ML"}.get(channel, channel)

    def why_not(self, channel_id: str) -> str:
        if self.down:
            raise SlackFailedError("unreachable")
        return self.refused.get(channel_id, "")


@dataclass
class Office:
    """Somebody asking, and the task that sends, at a movable time."""

    store: SqlStore
    now: datetime = START
    places: FakePlaces = field(default_factory=FakePlaces)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        config = Config.model_validate({"slack": {"admins": ["@ada"]}})
        with self.store.write() as unit:
            self.people = [
                replace(one, person_id=unit.people.remember(slack_id=one.slack_id))
                for one in map(make_person, ("mia", "ada", "bob"))
            ]
        self.application = cast(
            "Any",
            SimpleNamespace(
                store=self.store, settings=SimpleNamespace(config=config),
                now=lambda: self.now, digest_of=self._digest,
            ),
        )  # fmt: skip

    def _digest(self, scope: Any) -> Any:
        self.asked.append(scope.label)
        return make_digest(label=scope.label)

    def says(self, text: str, *, by: str = "mia") -> str:
        question = read_question(text, self.now)
        assert isinstance(question, Question)
        directory = ZonedDirectory(self.people)
        answers = SubscriptionAnswers(self.application, directory, self.places)
        asker = Asker(
            user_id=f"U0{by.upper()}",
            team_id="T1",
            enterprise_id="",
            channel_id="C0HERE",
        )
        ask = Ask(asker=asker, question=question, now=self.now, key="1")
        return shown(*answers.answers()[question.verb](ask))

    def look(self, hours: float = 0) -> None:
        self.now += hours * HOUR
        Sender(self.application, lambda: self.places, lambda _: {}).send_due(self.now)

    def posts(self) -> list[tuple[str, str]]:
        with self.store.database.read() as session:
            rows = session.execute(
                sql(
                    "SELECT channel, key FROM outbox WHERE thread_of = '' ORDER BY row_id"
                )
            )
            return [(channel, key) for channel, key in rows]


@pytest.fixture
def office(store: SqlStore) -> Office:
    return Office(store)


def test_a_channel_is_subscribed_by_the_clock_of_who_asks(office: Office) -> None:
    told = office.says("subscribe #ml-infra weekly mon 9:00 team=nlp")

    assert "the weekly digest of team `nlp` every Monday at 09:00 (Europe/Oslo)" in told
    office.look(11.9)  # 08:54 in Oslo
    assert office.posts() == []
    office.look(0.2)
    assert office.posts() == [("C0ML", "digest:C0ML:2026-W48:nlp")]


def test_it_is_sent_once_however_often_it_is_looked_at(office: Office) -> None:
    office.says("subscribe #ml-infra daily 9:00")
    for _ in range(5):
        office.look(5)

    assert len(office.posts()) == 1
    assert len(office.asked) == 1


def test_what_was_missed_is_caught_up_once(office: Office) -> None:
    office.says("subscribe #ml-infra daily 9:00")
    office.look(14)
    office.look(24 * 5)

    assert [key for _, key in office.posts()] == [
        "digest:C0ML:2026-11-29:",
        "digest:C0ML:2026-12-04:",
    ]


def test_the_same_wish_is_kept_once(office: Office) -> None:
    office.says("subscribe #ml-infra weekly")

    assert "gets it already" in office.says("subscribe #ml-infra weekly mon")
    assert "1 subscription" in office.says("subscriptions")


def test_no_channel_with_another_organisation_gets_one(office: Office) -> None:
    office.places.refused["C0ML"] = FOREIGN

    assert FOREIGN in office.says("subscribe #ml-infra weekly")
    assert "Nobody subscribed" in office.says("subscriptions")


def test_a_channel_that_is_shared_later_gets_none_and_who_asked_is_told_once(
    office: Office,
) -> None:
    office.says("subscribe #ml-infra daily 9:00")
    office.places.refused["C0ML"] = FOREIGN
    for _ in range(3):
        office.look(24)

    assert [channel for channel, _ in office.posts()] == ["U0MIA"]
    assert "not sent" in office.says("subscriptions")

    office.places.refused.clear()
    office.look(24)
    assert [channel for channel, _ in office.posts()] == ["U0MIA", "C0ML"]


def test_while_slack_cannot_be_asked_nothing_is_sent_and_it_is_tried_again(
    office: Office,
) -> None:
    office.says("subscribe #ml-infra daily 9:00")
    office.places.down = True
    office.look(13)
    assert office.posts() == []


def test_an_unknown_channel_is_refused(office: Office) -> None:
    assert "no such channel" in office.says("subscribe #nowhere weekly")


def test_who_subscribed_and_admins_unsubscribe(office: Office) -> None:
    office.says("subscribe #ml-infra weekly")

    assert "or an admin" in office.says("unsubscribe 1", by="bob")
    assert "no longer gets" in office.says("unsubscribe 1", by="ada")
    assert "no subscription 1" in office.says("unsubscribe 1", by="ada")
