from __future__ import annotations

import threading
from typing import Any

import pytest
from slack_bolt import Ack, Respond, Say
from slack_sdk import WebClient

from deploy.sandbox.slack import SlackSandbox
from tests.sandbox.slack.bolt import in_socket_mode, make_app

Json = dict[str, Any]
APPROVE = {
    "type": "actions",
    "elements": [
        {
            "type": "button",
            "action_id": "decide",
            "value": value,
            "text": {"type": "plain_text", "text": value},
        }
        | {"action_id": f"decide_{value}"}
        for value in ("approve", "deny")
    ],
}
FORM = {
    "type": "modal",
    "callback_id": "reason",
    "title": {"type": "plain_text", "text": "Deny"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "why",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "text"},
        }
    ],
}


def test_a_command_is_acknowledged_and_answered(slack: SlackSandbox) -> None:
    app = make_app(slack)
    seen: list[Json] = []

    @app.command("/gpucost")
    def answer(ack: Ack, body: Json, respond: Respond) -> None:
        ack()
        seen.append(body)
        respond(f"{body['text']} costs $1")

    with in_socket_mode(slack, app):
        done = slack.command("mia", "gpu-costs", "job-123").wait_acked()
        response = done.wait_response()

    assert response.text == "job-123 costs $1"
    assert response.ephemeral_to == "U0MIA"
    assert done.ack_latency_s is not None
    assert seen[0]["command"] == "/gpucost"
    assert seen[0]["channel_name"] == "gpu-costs"
    assert seen[0]["user_name"] == "mia"


def test_text_in_an_acknowledgement_is_shown_to_its_person(slack: SlackSandbox) -> None:
    app = make_app(slack)
    app.command("/gpucost")(lambda ack: ack(text="hello", response_type="in_channel"))

    with in_socket_mode(slack, app):
        slack.command("mia", "gpu-costs", "help").wait_acked()

    assert slack.messages("gpu-costs")[0].text == "hello"


def test_a_command_without_acknowledgement_fails_once(
    hasty_slack: SlackSandbox,
) -> None:
    app = make_app(hasty_slack)
    times: list[str] = []
    app.command("/gpucost")(lambda body: times.append(body["text"]))

    with in_socket_mode(hasty_slack, app):
        done = hasty_slack.command("mia", "gpu-costs", "slow").wait_done()

    assert done.person_saw == "operation_timeout"
    assert times == ["slow"]
    assert len(done.delivery.attempts) == 1


def test_a_command_to_an_app_that_is_away_fails(slack: SlackSandbox) -> None:
    done = slack.command("mia", "gpu-costs", "job-123").wait_done()

    assert done.person_saw == "dispatch_failed"


# C100
def test_an_event_comes_again_until_it_is_acknowledged(
    hasty_slack: SlackSandbox,
) -> None:
    app = make_app(hasty_slack)
    retries: list[str | None] = []
    events: list[str] = []

    @app.middleware
    def count(req: Any, resp: Any, next: Any) -> Any:  # noqa: A002 - Bolt's name
        retries.append((req.headers.get("x-slack-retry-num") or [None])[0])
        events.append(req.body["event_id"])
        if len(retries) < 3:
            return None
        return next()

    app.event("app_mention")(lambda say: say("here"))

    with in_socket_mode(hasty_slack, app):
        done = hasty_slack.mention("mia", "gpu-costs", "status").wait_acked()
        done.wait_answer()

    assert len(set(events)) == 1
    assert retries[:3] == ["0", "1", "2"]
    assert [item.outcome for item in done.delivery.attempts] == [
        "timeout",
        "timeout",
        "acked",
    ]


def test_an_event_is_given_up_after_three_more_tries(slack: SlackSandbox) -> None:
    done = slack.mention("mia", "gpu-costs", "status")

    slack.wait_for(lambda: done.delivery.is_done)

    assert len(done.delivery.attempts) == 4


def test_events_that_a_lost_connection_swallowed_come_again(
    slack: SlackSandbox,
) -> None:
    app = make_app(slack)
    arrived = threading.Event()
    seen: list[str] = []

    @app.event("app_mention")
    def on_mention(event: Json, say: Say) -> None:
        seen.append(event["text"])
        say("answer")

    with in_socket_mode(slack, app):
        slack.drop_connections()
        slack.wait_for(lambda: not slack.connections)
        slack.wait_for(lambda: slack.connections, 8)
        slack.mention("mia", "gpu-costs", "again").wait_answer()
        arrived.set()

    assert seen == ["<@U0GPUCOST> again"]


def test_a_click_replaces_the_card(slack: SlackSandbox, client: WebClient) -> None:
    app = make_app(slack)
    seen: list[Json] = []

    @app.action("decide_approve")
    def decide(ack: Ack, body: Json, respond: Respond) -> None:
        ack()
        seen.append(body)
        respond(text="approved", blocks=[], replace_original=True)

    client.chat_postMessage(channel="C0APPROVE", text="card", blocks=[APPROVE])
    card = slack.messages("gpu-approvals")[0]
    with in_socket_mode(slack, app):
        done = slack.click("ada", card, "decide_approve").wait_acked()
        done.wait_response()

    assert card.text == "approved"
    assert card.blocks == []
    action = seen[0]["actions"][0]
    assert (action["value"], action["type"]) == ("approve", "button")
    assert seen[0]["user"]["id"] == "U0ADA"
    assert seen[0]["message"]["ts"] == card.ts
    assert seen[0]["container"]["is_ephemeral"] is False


def test_a_click_can_be_forged(slack: SlackSandbox, client: WebClient) -> None:
    app = make_app(slack)
    seen: list[Json] = []

    @app.action("decide_approve")
    def decide(ack: Ack, action: Json) -> None:
        seen.append(action)
        ack()

    client.chat_postMessage(channel="C0APPROVE", text="card", blocks=[APPROVE])
    card = slack.messages("gpu-approvals")[0]

    with in_socket_mode(slack, app):
        slack.click("mia", card, "decide_approve", "other-request").wait_acked()

    assert seen[0]["value"] == "other-request"


def test_a_button_that_is_not_there_cannot_be_pressed(
    slack: SlackSandbox, client: WebClient
) -> None:
    client.chat_postMessage(channel="C0APPROVE", text="card", blocks=[APPROVE])
    card = slack.messages("gpu-approvals")[0]

    with pytest.raises(ValueError, match="decide_approve"):
        slack.click("ada", card, "launch")


def test_a_form_is_opened_corrected_and_sent(
    slack: SlackSandbox, client: WebClient
) -> None:
    app = make_app(slack)
    reasons: list[str] = []

    @app.action("decide_deny")
    def ask(ack: Ack, body: Json, client: WebClient) -> None:
        ack()
        client.views_open(trigger_id=body["trigger_id"], view=FORM)

    @app.view("reason")
    def take(ack: Ack, view: Json) -> None:
        reason = view["state"]["values"]["why"]["text"]["value"]
        if not reason:
            ack(response_action="errors", errors={"why": "say why"})
            return
        reasons.append(reason)
        ack()

    client.chat_postMessage(channel="C0APPROVE", text="card", blocks=[APPROVE])
    card = slack.messages("gpu-approvals")[0]
    with in_socket_mode(slack, app):
        form = slack.click("ada", card, "decide_deny").wait_view()
        empty = slack.submit_view("ada", form).wait_acked()
        shown = dict(form.errors)
        values = {"why": {"text": "too dear"}}
        slack.submit_view("ada", form, values).wait_acked()

    assert empty.view_errors == shown == {"why": "say why"}
    assert reasons == ["too dear"]
    assert form.state == "closed"
    assert slack.open_views("ada") == []


def test_a_home_tab_is_published(slack: SlackSandbox) -> None:
    app = make_app(slack)
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "your jobs"}}]

    @app.event("app_home_opened")
    def publish(event: Json, client: WebClient) -> None:
        client.views_publish(
            user_id=event["user"], view={"type": "home", "blocks": blocks}
        )

    with in_socket_mode(slack, app):
        slack.open_home("mia")
        view = slack.wait_for(lambda: slack.home("mia"))

    assert view is not None
    assert view.blocks[0]["text"]["text"] == "your jobs"


def test_of_several_connections_one_gets_the_envelope(slack: SlackSandbox) -> None:
    app = make_app(slack)
    times: list[str] = []

    @app.command("/gpucost")
    def answer(ack: Ack, body: Json) -> None:
        times.append(body["text"])
        ack()

    with in_socket_mode(slack, app, count=2):
        for number in range(4):
            slack.command("mia", "gpu-costs", str(number)).wait_acked()
        shares = [connection.received for connection in slack.connections]

    assert times == ["0", "1", "2", "3"]
    assert shares == [2, 2]


def test_an_app_that_is_told_to_refresh_comes_back(slack: SlackSandbox) -> None:
    app = make_app(slack)
    app.command("/gpucost")(lambda ack: ack("hello"))

    with in_socket_mode(slack, app):
        old = slack.connections[0].id
        slack.disconnect("refresh_requested", close_after_s=0.05)
        slack.wait_for(
            lambda: [item for item in slack.connections if item.id != old], 8
        )
        done = slack.command("mia", "gpu-costs", "help").wait_acked()

    assert done.responses[0].text == "hello"


def test_duplicates_and_reordering_happen_on_demand(slack: SlackSandbox) -> None:
    app = make_app(slack)
    seen: list[tuple[str, str]] = []

    @app.event("app_mention")
    def on_mention(body: Json) -> None:
        seen.append((body["event_id"], body["event"]["text"].split()[-1]))
        slack.state.touch()

    slack.fault("duplicate", "events_api", copies=2)
    with in_socket_mode(slack, app):
        slack.mention("mia", "gpu-costs", "first")
        slack.wait_for(lambda: len(seen) == 3)
        slack.fault("reorder", "events_api", times=2, window=2)
        second = slack.mention("mia", "gpu-costs", "second")
        third = slack.mention("mia", "gpu-costs", "third")
        second.wait_acked()
        third.wait_acked()
        started = [item.text for item in slack.messages("gpu-costs")]
        slack.wait_for(lambda: len(seen) == 5)

    assert len({event_id for event_id, _ in seen[:3]}) == 1
    assert [text.split()[-1] for text in started] == ["first", "second", "third"]
    assert {text for _, text in seen[3:]} == {"second", "third"}


# C102
def test_an_acknowledgement_after_the_limit_counts_for_nothing(
    hasty_slack: SlackSandbox,
) -> None:
    app = make_app(hasty_slack)
    may_go_on = threading.Event()

    @app.command("/gpucost")
    def answer(ack: Ack) -> None:
        may_go_on.wait(5)
        ack("too late")

    with in_socket_mode(hasty_slack, app):
        done = hasty_slack.command("mia", "gpu-costs", "slow").wait_done()
        may_go_on.set()
        hasty_slack.wait_for(lambda: done.delivery.late_ack_s)

    assert done.person_saw == "operation_timeout"
    assert hasty_slack.ephemerals("mia") == []


def test_a_burst_of_commands_is_acknowledged_once_each(slack: SlackSandbox) -> None:
    app = make_app(slack)

    @app.command("/gpucost")
    def answer(ack: Ack, body: Json) -> None:
        ack(body["text"])

    with in_socket_mode(slack, app):
        sent = [slack.command("mia", "gpu-costs", str(n)) for n in range(20)]
        for interaction in sent:
            interaction.wait_acked()

    shown = sorted(int(message.text) for message in slack.ephemerals("mia"))
    assert shown == list(range(20))
