"""Presses of Share and Refresh: asked anew, posted once, and only where it may be."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from slack_sdk import WebClient

from bot.ports import Message, SlackFailedError
from bot.slack import answering
from bot.slack.asked_again import (
    AGAIN,
    ARCHIVED,
    DIRECT,
    FOREIGN,
    NOT_MEMBER,
    NOT_MINE,
    why_not_here,
)
from bot.slack.handlers import Ask, Home
from bot.views.asked import REFRESH, SHARE, with_buttons
from bot.views.errors import note
from tests.slack.support import (
    HOME,
    NOWHERE,
    Recorded,
    make_app,
    send_click,
    send_command,
    send_event,
)

PUBLIC = {
    "is_im": False,
    "is_mpim": False,
    "is_ext_shared": False,
    "is_org_shared": False,
    "is_shared": False,
    "is_archived": False,
    "is_member": True,
}


def answered(ask: Ask) -> tuple[Message, ...]:
    return (with_buttons(note(f"{ask.question.target}: $12.00"), "job-123"),)


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """What the presser would have been shown."""
    sent: list[Message] = []
    monkeypatch.setattr(
        answering.Reply, "send", lambda _, messages: sent.extend(messages)
    )
    return sent


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What Slack says of the channel; a test changes it."""
    info: dict[str, Any] = {**PUBLIC}
    monkeypatch.setattr(
        WebClient,
        "conversations_info",
        lambda _, **__: SimpleNamespace(data={"channel": info}),
    )
    return info


@pytest.mark.usefixtures("channel")
def test_share_asks_anew_and_posts_the_answer_in_its_channel(
    replies: list[Message],
) -> None:
    recorded = Recorded(answer=answered)

    send_click(make_app(recorded), action_id=SHARE, value="job-123 since 2026-11-01")

    (effect,) = recorded.effects.values()
    assert (effect.kind, effect.channel, effect.user) == ("post", "C111", "")
    assert effect.payload["text"] == "<@W111> shared: job-123: $12.00"
    said = effect.payload["blocks"][0]["elements"][0]["text"]
    assert said.endswith("`/gpucost job-123 since 2026-11-01`")
    assert all(block["type"] != "actions" for block in effect.payload["blocks"])
    assert replies == []


@pytest.mark.usefixtures("channel")
def test_answer_is_shared_once_however_often_it_is_pressed(
    replies: list[Message],
) -> None:
    recorded = Recorded(answer=answered)
    app = make_app(recorded)

    for trigger in ("1.1", "2.2", "3.3"):
        send_click(app, action_id=SHARE, value="job-123", trigger_id=trigger)

    assert len(recorded.effects) == 1
    assert [one.text for one in replies] == [f"Nothing was shared: {AGAIN}."] * 2


@pytest.mark.usefixtures("channel")
def test_two_answers_are_shared_as_two(replies: list[Message]) -> None:
    recorded = Recorded(answer=answered)
    app = make_app(recorded)

    for ts in ("111.1", "111.2"):
        pressed = {"type": "message", "message_ts": ts, "channel_id": "C111"}
        send_click(app, action_id=SHARE, value="job-123", container=pressed)

    assert len(recorded.effects) == 2
    assert replies == []


@pytest.mark.usefixtures("channel")
def test_refusal_is_told_to_the_presser_and_never_posted(
    replies: list[Message],
) -> None:
    recorded = Recorded(answer=lambda _: (note("Guests may not ask."),))

    send_click(make_app(recorded), action_id=SHARE, value="job-123")

    assert recorded.effects == {}
    assert [one.text for one in replies] == ["Guests may not ask."]


# C098
@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"is_ext_shared": True, "is_shared": True}, FOREIGN),
        ({"is_pending_ext_shared": True}, FOREIGN),
        ({"is_shared": True}, FOREIGN),
        ({"is_ext_shared": None}, FOREIGN),
        ({"is_archived": True}, ARCHIVED),
        ({"is_member": False}, NOT_MEMBER),
        ({"is_mpim": True}, DIRECT),
    ],
)
def test_share_is_refused_privately_where_figures_may_not_be_posted(
    said: dict[str, Any], why: str, channel: dict[str, Any], replies: list[Message]
) -> None:
    channel |= said
    recorded = Recorded(answer=answered)

    send_click(make_app(recorded), action_id=SHARE, value="job-123")

    assert recorded.effects == {}
    assert recorded.asks == []
    assert [one.text for one in replies] == [f"Nothing was shared: {why}."]


def test_channel_of_several_workspaces_of_one_organisation_is_ours_alone(
    channel: dict[str, Any],
) -> None:
    channel |= {"is_shared": True, "is_org_shared": True}
    client, single = WebClient(base_url=NOWHERE), Home(team_id="T1", bot_user_id="U1")

    assert why_not_here(client, HOME, "C111") == ""
    assert why_not_here(client, single, "C111") == FOREIGN


def test_share_in_a_direct_message_is_refused(replies: list[Message]) -> None:
    recorded = Recorded(answer=answered)

    send_click(
        make_app(recorded), action_id=SHARE, value="job-123", channel={"id": "D111"}
    )

    assert recorded.effects == {}
    assert [one.text for one in replies] == [f"Nothing was shared: {DIRECT}."]


def test_conversation_that_we_cannot_see_is_not_posted_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise SlackFailedError("channel_not_found", is_final=True)

    monkeypatch.setattr(WebClient, "conversations_info", refuse)

    assert why_not_here(WebClient(), HOME, "C111") == NOT_MEMBER


def test_nothing_is_posted_while_slack_cannot_tell_of_the_channel(
    replies: list[Message],
) -> None:
    recorded = Recorded(answer=answered)

    send_click(make_app(recorded), action_id=SHARE, value="job-123")

    assert recorded.effects == {}
    assert "reference `ref-1`" in replies[0].text


# C098, H5
@pytest.mark.parametrize("action_id", [SHARE, REFRESH])
def test_stranger_who_presses_gets_no_figures_and_is_recorded(
    action_id: str, replies: list[Message]
) -> None:
    recorded = Recorded(answer=answered)

    send_click(
        make_app(recorded),
        action_id=action_id,
        value="job-123",
        user={"id": "U9", "team_id": "T_OTHER"},
    )

    assert recorded.asks == []
    assert recorded.effects == {}
    assert replies[0].text.startswith("Sorry")
    assert recorded.refusals[0].reason == "other_organisation"


# H5
@pytest.mark.parametrize("action_id", [SHARE, REFRESH])
@pytest.mark.parametrize(
    "value",
    [
        "",
        "help",
        "pause now",
        "resume",
        "request p5.48xlarge 24h --job a --reason b",
        "top --what x",
        "a" * 2001,
    ],
)
def test_edited_value_does_nothing_and_is_recorded(
    value: str, action_id: str, replies: list[Message]
) -> None:
    recorded = Recorded(answer=answered)

    send_click(make_app(recorded), action_id=action_id, value=value)

    assert recorded.asks == []
    assert [one.reason for one in recorded.refusals] == ["forged_value"]
    assert [one.text for one in replies] == [NOT_MINE]


def test_refresh_asks_anew_for_the_presser_alone(replies: list[Message]) -> None:
    recorded = Recorded(answer=answered)

    send_click(make_app(recorded), action_id=REFRESH, value="job-123")

    assert recorded.effects == {}
    assert [one.text for one in replies] == ["job-123: $12.00"]


def test_press_without_room_is_not_acknowledged() -> None:
    work = SimpleNamespace(submit=lambda _: False)
    app = make_app(Recorded(answer=answered), work=work)

    assert send_click(app, action_id=SHARE, value="job-123").status == 503


def test_answer_in_a_direct_message_has_no_buttons() -> None:
    recorded = Recorded(answer=answered)
    event = {"channel": "D111", "channel_type": "im", "user": "W222"}

    send_event(make_app(recorded), "message.json", text="job-123", **event)

    (effect,) = recorded.effects.values()
    assert [block["type"] for block in effect.payload["blocks"]] == ["section"]


def test_answer_to_a_command_and_to_a_mention_has_buttons(
    replies: list[Message],
) -> None:
    recorded = Recorded(answer=answered)
    app = make_app(recorded)

    send_command(app, "job-123")
    send_event(app, "app_mention.json", text="<@W111> job-123")

    (effect,) = recorded.effects.values()
    assert effect.payload["blocks"][-1]["type"] == "actions"
    assert replies[0].blocks[-1]["type"] == "actions"
