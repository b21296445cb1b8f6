"""Who may press what under an alert, and what they are told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from sqlalchemy import text as sql

from bot.settings.sections import Config
from bot.slack.alert_clicks import AlertClick
from bot.slack.handlers import Asker
from bot.views.alert_buttons import EXPLAIN, KEEP, NOT_IDLE, SNOOZE, STOP, AlertPress
from bot.wiring.alert_desk import AlertDesk
from tests.builders_acting import ENFORCED, Floor
from tests.builders_bot import shown
from tests.builders_policies import NOW, policy
from tests.fakes.directory import InMemoryDirectory, make_person

if TYPE_CHECKING:
    from bot.unit_of_work import SqlStore

CONFIG = {
    "slack": {"admins": ["@root"], "alerts": "C0ALERTS"},
    "teams": {"nlp": {"leads": ["@lea"]}},
    "owners": {"map": {"ada": "@ada"}},
}


@dataclass
class Room:
    """One idle machine of ada in team nlp, told of, and people who press."""

    floor: Floor
    last: tuple[str, datetime] = ("", NOW)

    def __post_init__(self) -> None:
        self.floor.evaluate()
        people = [
            make_person(one) for one in ("ada", "lea", "root", "bob")
        ]  # fmt: skip
        people.append(make_person("guest", is_guest=True))
        self.directory = InMemoryDirectory(people)
        floor = self.floor
        self.application = cast(
            "Any",
            SimpleNamespace(
                store=floor.store,
                settings=SimpleNamespace(config=Config.model_validate(CONFIG)),
                load_policies=lambda _: [floor.policy],
                enforcing=SimpleNamespace(can_act=True, hand=lambda _: floor.hand()),
                now=lambda: floor.now,
            ),
        )

    def press(self, by: str, action: str, **changes: object) -> str:
        with self.floor.store.read() as unit:
            row = unit.alerts.live() or ()
        fingerprint, opened = (
            (row[0].fingerprint, row[0].opened_at) if row else self.last
        )
        self.last = (fingerprint, opened)
        press = AlertPress(
            fingerprint=fingerprint,
            opened_at=opened,
            snooze=timedelta(hours=4) if action == SNOOZE else None,
        )
        asker = Asker(
            user_id=f"U0{by.upper()}", team_id="T1", enterprise_id="", channel_id="C1"
        )
        click = AlertClick(
            asker=asker,
            action=action,
            press=replace(press, **changes),  # type: ignore[arg-type]
            now=self.floor.now,
        )
        desk = AlertDesk(self.application, cast("Any", self.directory))
        return shown(*desk.press(click))

    def threads(self) -> list[str]:
        with self.floor.store.database.read() as session:
            rows = session.execute(
                sql("SELECT payload FROM outbox WHERE thread_of <> '' ORDER BY row_id")
            )
            return list(rows.scalars())


@pytest.fixture
def room(store: SqlStore) -> Room:
    rule = policy(ENFORCED.replace("mode: enforce", "mode: notify"))
    return Room(Floor(store, policy=rule))


@pytest.mark.parametrize("by", ["ada", "lea", "root"])
def test_owner_lead_and_admin_keep_it(room: Room, by: str) -> None:
    assert "`job-123` is kept until" in room.press(by, KEEP)


@pytest.mark.parametrize("action", [KEEP, SNOOZE, NOT_IDLE, STOP])
def test_nobody_else_does_anything(room: Room, action: str) -> None:
    told = room.press("bob", action)

    assert "Nothing was done: <@U0ADA>, leads of team `nlp` and admins" in told
    assert room.floor.enforcer.done == {}


def test_everybody_but_guests_is_told_the_reasons(room: Room) -> None:
    assert "gpu utilization" in room.press("bob", EXPLAIN)
    assert room.press("guest", EXPLAIN) == room.press("guest", STOP)
    assert "Guests" in room.press("guest", EXPLAIN)


def test_snooze_says_until_when(room: Room) -> None:
    assert "No reminders of `job-123` until" in room.press("ada", SNOOZE)


def test_not_idle_twice_is_said(room: Room) -> None:
    assert "Noted" in room.press("ada", NOT_IDLE)
    assert "You said so already" in room.press("ada", NOT_IDLE)


def test_stop_now_is_told_in_the_thread(room: Room) -> None:
    told = room.press("ada", STOP)

    assert "<@U0ADA> stopped 1 instance of `job-123`" in told
    assert "stopped 1 instance" in room.threads()[-1]
    assert room.floor.enforcer.done == {("stop", "i-1"): 1}


def test_a_late_press_does_nothing_and_says_so(room: Room) -> None:
    room.press("ada", EXPLAIN)
    room.floor.machines = []
    room.floor.wait(5)
    room.floor.evaluate()

    assert "nothing was done" in room.press("ada", STOP)
    assert room.floor.enforcer.done == {}


def test_a_button_of_an_alert_that_never_was_is_refused(room: Room) -> None:
    assert "not one of mine" in room.press("ada", KEEP, fingerprint="0" * 32)
