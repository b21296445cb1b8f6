"""Signed requests through Bolt: acknowledged at once, asked once, forged ones refused."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.ports import Message
from bot.slack import answering
from bot.slack.dispatch import handle
from bot.slack.handlers import ClickOutcome
from bot.slack.http import sign
from bot.slack.work import WorkPool
from bot.views.approval_buttons import APPROVE, DENY
from bot.views.errors import note
from policies.core.approvals import Verdict
from tests.slack.support import (
    SECRET,
    Recorded,
    command_body,
    dispatch,
    make_app,
    send_click,
    send_command,
    send_event,
)


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """What a person would have been shown; nothing leaves the process."""
    sent: list[Message] = []
    monkeypatch.setattr(
        answering.Reply, "send", lambda _, messages: sent.extend(messages)
    )
    return sent


class NoRoom:
    def submit(self, _: Callable[[], None]) -> bool:
        return False


def test_command_is_acknowledged_and_answered(replies: list[Message]) -> None:
    recorded = Recorded()

    response = send_command(make_app(recorded), "job-123 last week")

    assert response.status == 200
    assert [message.text for message in replies] == ["cost job-123"]
    assert recorded.asks[0].asker.user_id == "W111"


# C102
def test_ack_does_not_wait_for_slow_work() -> None:
    recorded, release = Recorded(), threading.Event()

    def slow(_: Any) -> tuple[Message, ...]:
        release.wait(10)
        return ()

    recorded.answer = slow
    pool = WorkPool(workers=1)
    app = make_app(recorded, work=pool)

    statuses = [send_command(app, "job-123").status for _ in range(50)]

    assert statuses == [200] * 50
    release.set()
    pool.close()


def test_full_pool_answers_busy_in_the_ack(replies: list[Message]) -> None:
    response = send_command(make_app(Recorded(), work=NoRoom()), "job-123")

    assert response.status == 200
    assert "I am busy: nothing was done" in (response.body or "")
    assert replies == []


def test_full_pool_makes_slack_deliver_the_event_again() -> None:
    response = send_event(make_app(Recorded(), work=NoRoom()), "app_mention.json")

    assert response.status == 503


def test_press_without_room_is_not_acknowledged() -> None:
    app = make_app(Recorded(), work=NoRoom())

    response = send_click(app, action_id=APPROVE, value="apr-7k2m9q:1")

    assert response.status == 503


# H1
def test_forged_signature_is_refused_and_nothing_is_asked(
    replies: list[Message],
) -> None:
    recorded = Recorded()

    response = dispatch(
        make_app(recorded),
        command_body("pause"),
        kind="application/x-www-form-urlencoded",
        secret="another secret",
    )

    assert response.status == 401
    assert recorded.asks == []
    assert replies == []


def test_nothing_of_a_request_is_logged(
    replies: list[Message], caplog: pytest.LogCaptureFixture
) -> None:
    recorded = Recorded()
    app = make_app(recorded)
    form = "application/x-www-form-urlencoded"

    with caplog.at_level(logging.DEBUG):
        send_command(app, "job-canary")
        dispatch(app, command_body("job-canary"), kind=form, secret="other")

    assert replies
    assert caplog.text == ""


# C098
def test_stranger_of_another_organisation_gets_no_figures(
    replies: list[Message],
) -> None:
    recorded = Recorded()

    send_command(
        make_app(recorded), "job-123", team_id="T_OTHER", enterprise_id="E_OTHER"
    )

    assert recorded.asks == []
    assert [message.text for message in replies] == [
        "Sorry, I answer members of the home organisation only."
    ]
    assert recorded.refusals[0].reason == "other_organisation"


def test_other_workspace_of_our_organisation_is_home(replies: list[Message]) -> None:
    recorded = Recorded()

    send_command(make_app(recorded), "job-123", team_id="T222", enterprise_id="E111")

    assert [message.text for message in replies] == ["cost job-123"]


def test_wrong_command_says_what_is_wrong(replies: list[Message]) -> None:
    send_command(make_app(Recorded()), "estimate p5.48xlarge x0")

    text = replies[0].blocks[0]["text"]["text"]
    assert "count must be 1 to 10,000" in text
    assert "say how long" in text


def test_verb_that_nobody_answers_is_said_to_be_missing(replies: list[Message]) -> None:
    send_command(make_app(Recorded()), "idle")

    assert replies[0].text == "`idle` is not available in this installation."


@pytest.mark.parametrize("text", ["", "help"])
def test_menu_and_help_need_no_application(text: str, replies: list[Message]) -> None:
    recorded = Recorded()

    send_command(make_app(recorded), text)

    assert "/gpucost job-123" in replies[0].text
    assert recorded.asks == []


def test_broken_use_case_becomes_a_sentence_with_a_reference(
    replies: list[Message],
) -> None:
    recorded = Recorded()

    def broken(_: Any) -> tuple[Message, ...]:
        message = "SECRET detail"
        raise RuntimeError(message)

    recorded.answer = broken
    send_command(make_app(recorded), "job-123")

    assert "reference `ref-1`" in replies[0].text
    assert "SECRET" not in replies[0].text
    assert recorded.failures[0][0] == "slack_work_failed"


# H2
def test_replayed_change_is_not_done_twice(replies: list[Message]) -> None:
    recorded = Recorded()
    app = make_app(recorded)

    for _ in range(2):
        send_command(app, "pause maintenance", trigger_id="111.222")

    assert len(recorded.asks) == 1
    assert replies[1].text == "This was received before; nothing was done again."


def test_replayed_question_is_answered_again(replies: list[Message]) -> None:
    app = make_app(Recorded())

    for _ in range(2):
        send_command(app, "job-123", trigger_id="111.222")

    assert len(replies) == 2


@pytest.mark.parametrize(
    ("action_id", "verdict"), [(APPROVE, Verdict.APPROVE), (DENY, Verdict.DENY)]
)
def test_press_reaches_the_application_with_ids_only(
    action_id: str, verdict: Verdict, replies: list[Message]
) -> None:
    recorded = Recorded(outcome=ClickOutcome(note=note("Recorded.")))

    send_click(make_app(recorded), action_id=action_id, value="apr-7k2m9q:2")

    (click,) = recorded.clicks
    assert (click.request_id, click.version, click.verdict) == (
        "apr-7k2m9q",
        2,
        verdict,
    )
    assert (click.asker.user_id, click.message_ts) == ("W111", "111.222")
    assert replies[0].text == "Recorded."


# C098, H5
def test_press_by_a_stranger_in_a_shared_channel_is_refused_and_recorded(
    replies: list[Message],
) -> None:
    recorded = Recorded()

    send_click(
        make_app(recorded),
        action_id=APPROVE,
        value="apr-7k2m9q:1",
        user={"id": "U9", "team_id": "T_OTHER"},
    )

    assert recorded.clicks == []
    assert recorded.refusals[0].what == "click"
    assert replies[0].text.startswith("Sorry")


# H5
@pytest.mark.parametrize("value", ["", "apr-7k2m9q", "apr-7k2m9q:1:U9", "<!channel>"])
def test_edited_value_decides_nothing_and_is_recorded(
    value: str, replies: list[Message]
) -> None:
    recorded = Recorded()

    send_click(make_app(recorded), action_id=APPROVE, value=value)

    assert recorded.clicks == []
    assert [one.reason for one in recorded.refusals] == ["forged_value"]
    assert "Nothing was decided" in replies[0].text


def test_unknown_button_is_nobodys() -> None:
    recorded = Recorded()

    response = send_click(make_app(recorded), action_id="approval_approve2", value="x")

    assert response.status == 404
    assert recorded.clicks == []


# C100, F7
def test_mention_delivered_three_times_is_answered_once() -> None:
    recorded = Recorded()
    app = make_app(recorded)

    for _ in range(3):
        send_event(app, "app_mention.json", text="<@W111> job-123", event_id="Ev1")

    (effect,) = recorded.effects.values()
    assert (effect.kind, effect.channel, effect.user) == ("ephemeral", "C111", "W222")
    assert effect.payload["text"] == "cost job-123"


def test_two_mentions_are_two_answers() -> None:
    recorded = Recorded()
    app = make_app(recorded)

    for event_id in ("Ev1", "Ev2"):
        send_event(app, "app_mention.json", text="<@W111> job-1", event_id=event_id)

    assert len(recorded.effects) == 2


def test_direct_message_is_answered_with_a_post() -> None:
    recorded = Recorded()

    send_event(
        make_app(recorded),
        "message.json",
        text="job-123",
        channel="D111",
        channel_type="im",
        user="W222",
    )

    (effect,) = recorded.effects.values()
    assert (effect.kind, effect.channel) == ("post", "D111")


@pytest.mark.parametrize(
    "event",
    [
        {"channel_type": "channel", "user": "W222"},
        {"channel_type": "im", "user": "W222", "subtype": "message_changed"},
        {"channel_type": "im", "user": "W222", "bot_id": "B9"},
        {"channel_type": "im", "user": "W111"},
    ],
    ids=["in-a-channel", "an-edit", "another-bot", "ourselves"],
)
def test_other_messages_are_none_of_our_business(event: dict[str, str]) -> None:
    recorded = Recorded()

    response = send_event(make_app(recorded), "message.json", text="job-123", **event)

    assert response.status == 200
    assert recorded.effects == {}


@pytest.mark.parametrize(
    "body",
    [
        b"payload=%7Bcanary",
        b'{"a":' * 10_000,
        b"\xff\xfe",
        b"&" * 60_000,
        b"[]",
        b"null",
    ],
    ids=["cut", "deep", "no-utf8", "fields", "a-list", "null"],
)
@pytest.mark.parametrize(
    "kind", ["application/json", "application/x-www-form-urlencoded"]
)
def test_signed_nonsense_is_refused_without_raising(body: bytes, kind: str) -> None:
    recorded, timestamp = Recorded(), str(int(time.time()))
    headers = {
        "content-type": kind,
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": sign(body, timestamp=timestamp, secret=SECRET),
    }

    now = datetime.fromtimestamp(int(timestamp), UTC)
    answer = handle(make_app(recorded), headers, body, secret=SECRET, now=now)

    assert answer.status in {400, 404}
    assert recorded.asks == []


def test_signed_command_is_handled_from_raw_bytes(replies: list[Message]) -> None:
    body, timestamp = command_body("job-123").encode(), str(int(time.time()))
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": sign(body, timestamp=timestamp, secret=SECRET),
    }
    now = datetime.fromtimestamp(int(timestamp), UTC)

    answer = handle(make_app(Recorded()), headers, body, secret=SECRET, now=now)

    assert answer.status == 200
    assert replies[0].text == "cost job-123"
