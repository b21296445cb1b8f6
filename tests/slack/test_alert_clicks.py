"""Presses under alerts as Slack sends them: read whole, or refused and put on record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.slack import answering
from bot.slack.alert_clicks import AlertClick, read_alert_click
from bot.slack.app import build_app
from bot.slack.client import build_client
from bot.slack.handlers import Asker
from bot.slack.work import Inline
from bot.views.alert import finding_alert
from bot.views.alert_buttons import (
    ALERT_ACTIONS,
    KEEP,
    SNOOZE,
    STOP,
    AlertState,
    alert_value,
)
from bot.views.answers import Message
from bot.views.errors import note
from deploy.sandbox.slack.actions import elements_of
from tests.builders_bot import NOW, PEOPLE, make_finding
from tests.slack.support import HOME, NOWHERE, SECRET, Recorded, send_click

FINDING = make_finding()
VALUE = alert_value(FINDING.fingerprint, NOW)
ASKER = Asker(user_id="U1", team_id="T111", enterprise_id="", channel_id="C1")


def _app(clicks: list[AlertClick], recorded: Recorded):  # type: ignore[no-untyped-def]  # noqa: ANN202
    def press(click: AlertClick) -> tuple[Message, ...]:
        clicks.append(click)
        return (note("done"),)

    return build_app(
        client=build_client("xoxb-planted", api_url=NOWHERE),
        home=HOME,
        handlers=replace(recorded.handlers(), alert=press),
        work=Inline(),
        signing_secret=SECRET,
    )


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    sent: list[Message] = []
    monkeypatch.setattr(
        answering.Reply, "send", lambda _, messages: sent.extend(messages)
    )
    return sent


def test_a_press_reaches_the_application_as_it_was_drawn(
    replies: list[Message],
) -> None:
    clicks: list[AlertClick] = []

    send_click(_app(clicks, Recorded()), action_id=KEEP, value=VALUE)

    (click,) = clicks
    assert (click.action, click.press.fingerprint) == (KEEP, FINDING.fingerprint)
    assert click.press.opened_at == NOW
    assert [one.text for one in replies] == ["done"]


@pytest.mark.parametrize("value", ["", "x", VALUE + ":9y", VALUE[:-1] + "e", "0:1"])
def test_a_forged_value_is_refused_and_recorded(
    replies: list[Message], value: str
) -> None:
    clicks: list[AlertClick] = []
    recorded = Recorded()

    send_click(_app(clicks, recorded), action_id=STOP, value=value)

    assert clicks == []
    assert [one.reason for one in recorded.refusals] == ["forged_value"]
    assert "not one of mine" in replies[0].text


def test_somebody_of_another_organisation_presses_nothing(
    replies: list[Message],
) -> None:
    clicks: list[AlertClick] = []
    recorded = Recorded()
    stranger = {"id": "U9", "team_id": "T999", "enterprise_id": "E999"}

    send_click(_app(clicks, recorded), action_id=KEEP, value=VALUE, user=stranger)

    assert clicks == []
    assert len(replies) == 1
    assert [one.reason for one in recorded.refusals] == ["other_organisation"]


def test_every_element_drawn_is_understood() -> None:
    state = AlertState(opened_at=NOW, can_stop=True)
    message = finding_alert(FINDING, people=PEOPLE, now=NOW, state=state)

    seen = set()
    for _, element in elements_of(message.blocks):
        seen.add(element["action_id"])
        for option in element.get("options") or [element]:
            chosen = {"action_id": element["action_id"]} | (
                {"selected_option": option}
                if element["type"] == "static_select"
                else {"value": option["value"]}
            )
            assert read_alert_click(chosen, ASKER, NOW) is not None
    assert {KEEP, SNOOZE} <= seen <= set(ALERT_ACTIONS)
