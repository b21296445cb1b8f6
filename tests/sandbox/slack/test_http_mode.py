from __future__ import annotations

from typing import Any

from slack_bolt import Ack, Respond
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


def test_a_click_is_never_sent_again(slack: SlackSandbox) -> None:
    app = make_app(slack)
    with in_http_mode(slack, app) as seen:
        done = slack.command("mia", "gpu-costs", "hello").wait_done()

    assert len(seen) == len(done.delivery.attempts) == 1
