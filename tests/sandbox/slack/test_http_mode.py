from __future__ import annotations

import threading
from typing import Any

from slack_bolt import Ack, Respond
from slack_sdk import WebClient
from slack_sdk.signature import SignatureVerifier

from deploy.sandbox.slack import SlackSandbox
from deploy.sandbox.slack.http_mode import signed_headers
from tests.sandbox.slack.bolt import in_http_mode, make_app

Json = dict[str, Any]


def test_a_signed_command_is_taken_and_answered(slack: SlackSandbox) -> None:
    app = make_app(slack)

    @app.command("/gpucost")
    def answer(ack: Ack, respond: Respond, body: Json) -> None:
        ack()
        respond(f"{body['text']} costs $1")

    with in_http_mode(slack, app):
        response = slack.command("mia", "gpu-costs", "job-1").wait_response()

    assert response.text == "job-1 costs $1"


def test_a_wrong_signature_is_refused(slack: SlackSandbox) -> None:
    app = make_app(slack)
    app.command("/gpucost")(lambda ack: ack("hello"))
    slack.workspace.app.signing_secret = "another"

    with in_http_mode(slack, app):
        done = slack.command("mia", "gpu-costs", "job-1").wait_done()

    assert done.person_saw == "dispatch_failed"
    assert done.delivery.attempts[0].detail == "401"


def test_the_sdks_own_verifier_takes_a_signature() -> None:
    headers = signed_headers("secret", b"a=b")
    stamp, signature = headers.values()

    verifier = SignatureVerifier("secret")

    assert verifier.is_valid("a=b", stamp, signature)
    assert not verifier.is_valid("a=c", stamp, signature)


# C100
def test_an_event_is_sent_again_with_number_and_reason(slack: SlackSandbox) -> None:
    app = make_app(slack)
    with in_http_mode(slack, app) as seen:
        done = slack.mention("mia", "gpu-costs", "hello")
        slack.wait_for(lambda: done.delivery.is_done)

    retries = [
        (headers.get("x-slack-retry-num"), headers.get("x-slack-retry-reason"))
        for headers in seen
    ]
    assert retries == [
        (None, None),
        ("1", "http_error"),
        ("2", "http_error"),
        ("3", "http_error"),
    ]


def test_commands_and_clicks_are_never_sent_again(
    slack: SlackSandbox, client: WebClient
) -> None:
    app = make_app(slack)
    text = {"type": "plain_text", "text": "Go"}
    element = {"type": "button", "action_id": "go", "text": text}
    blocks = [{"type": "actions", "elements": [element]}]
    client.chat_postMessage(channel="C0COSTS", text="card", blocks=blocks)
    card = slack.messages("gpu-costs")[0]

    with in_http_mode(slack, app) as seen:
        slack.command("mia", "gpu-costs", "hello").wait_done()
        slack.click("mia", card, "go").wait_done()

    assert len(seen) == 2


# C102
def test_an_app_that_is_too_slow_lets_its_person_down(
    hasty_slack: SlackSandbox,
) -> None:
    app = make_app(hasty_slack)
    may_go_on = threading.Event()

    @app.command("/gpucost")
    def answer(ack: Ack) -> None:
        may_go_on.wait(5)
        ack("too late")

    with in_http_mode(hasty_slack, app):
        done = hasty_slack.command("mia", "gpu-costs", "slow").wait_done()
        saw = done.person_saw
        may_go_on.set()

    assert saw == "operation_timeout"
    assert hasty_slack.ephemerals("mia") == []
