from __future__ import annotations

import http.client
import json
import urllib.error
from datetime import UTC, datetime, timedelta

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler
from slack_sdk.webhook import WebhookClient

from deploy.sandbox.slack import PostLimit, SlackSandbox
from tests.sandbox.slack.bolt import in_socket_mode, make_app, make_client

NETWORK = (urllib.error.URLError, http.client.HTTPException, ConnectionError)


def post(client: WebClient) -> None:
    client.chat_postMessage(channel="C0COSTS", text="hi")


# C111
def test_a_throttled_call_says_how_long_to_wait(
    slack: SlackSandbox, client: WebClient
) -> None:
    slack.fault("throttle", "chat.postMessage", times=2, retry_after_s=30)

    for _ in range(2):
        with pytest.raises(SlackApiError) as caught:
            post(client)
        assert caught.value.response.status_code == 429
        assert caught.value.response.headers["Retry-After"] == "30"
    post(client)

    assert len(slack.messages("C0COSTS")) == 1


def test_the_sdks_retry_handler_gets_through(slack: SlackSandbox) -> None:
    client = make_client(slack)
    client.retry_handlers.append(RateLimitErrorRetryHandler(max_retry_count=1))
    slack.fault("throttle", "chat.postMessage", retry_after_s=0)

    post(client)

    assert [call.ok for call in slack.calls("chat.postMessage")] == [False, True]


def test_a_failing_call_does_nothing(slack: SlackSandbox, client: WebClient) -> None:
    slack.fault("fail", status=503, error="service_unavailable")
    with pytest.raises(SlackApiError) as broken:
        post(client)
    slack.fault("fail", status=200, error="fatal_error")
    with pytest.raises(SlackApiError) as refused:
        post(client)

    assert broken.value.response.status_code == 503
    assert refused.value.response["error"] == "fatal_error"
    assert slack.messages("C0COSTS") == []


@pytest.mark.parametrize(("kind", "posted"), [("drop_before", 0), ("drop_after", 1)])
def test_a_dropped_call_leaves_the_client_in_the_dark(
    slack: SlackSandbox, kind: str, posted: int
) -> None:
    client = WebClient(
        token=slack.workspace.app.bot_token, base_url=slack.api_url, retry_handlers=[]
    )
    slack.fault(kind, "chat.postMessage")

    with pytest.raises(NETWORK):
        post(client)

    assert len(slack.messages("C0COSTS")) == posted


def test_a_truncated_answer_is_no_json(slack: SlackSandbox, client: WebClient) -> None:
    slack.fault("truncate", "chat.postMessage")

    with pytest.raises((SlackApiError, ValueError)):
        post(client)

    assert len(slack.messages("C0COSTS")) == 1


def test_a_delayed_call_outlasts_an_impatient_client(slack: SlackSandbox) -> None:
    client = make_client(slack)
    client.timeout = 0.05  # type: ignore[assignment]
    slack.fault("delay", "chat.postMessage", delay_s=0.3)

    with pytest.raises((TimeoutError, urllib.error.URLError)):
        post(client)


def test_a_revoked_token_is_refused_everywhere(
    slack: SlackSandbox, client: WebClient
) -> None:
    slack.revoke_token()
    with pytest.raises(SlackApiError) as revoked:
        post(client)
    slack.clear_faults()
    post(client)

    assert revoked.value.response["error"] == "token_revoked"


def test_an_outage_refuses_everything_until_it_ends(slack: SlackSandbox) -> None:
    client = WebClient(
        token=slack.workspace.app.bot_token, base_url=slack.api_url, retry_handlers=[]
    )
    app = make_app(slack)
    app.command("/gpucost")(lambda ack: ack("back"))
    with in_socket_mode(slack, app):
        slack.outage(on=True)
        slack.wait_for(lambda: not slack.connections)
        with pytest.raises(NETWORK):
            post(client)
        lost = slack.command("mia", "gpu-costs", "x").wait_done()
        slack.outage(on=False)
        slack.wait_for(lambda: slack.connections, 10)
        back = slack.command("mia", "gpu-costs", "x").wait_acked()

    assert lost.person_saw == "dispatch_failed"
    assert back.responses[0].text == "back"


# C103
def test_a_response_url_is_good_for_five_answers(slack: SlackSandbox) -> None:
    done = slack.command("mia", "gpu-costs", "x")
    url = done.delivery.payload["response_url"]
    hook = WebhookClient(url)

    answers = [hook.send(text=str(number)) for number in range(6)]

    assert [answer.status_code for answer in answers] == [200] * 5 + [404]
    assert json.loads(answers[5].body)["error"] == "used_url"
    assert [message.text for message in done.responses] == ["0", "1", "2", "3", "4"]


# C103
def test_a_response_url_expires_after_half_an_hour() -> None:
    now = [datetime(2026, 11, 20, tzinfo=UTC)]
    with SlackSandbox(clock=lambda: now[0], post_limit=PostLimit(per_s=None)) as slack:
        done = slack.command("mia", "gpu-costs", "x")
        hook = WebhookClient(done.delivery.payload["response_url"])
        now[0] += timedelta(minutes=30)
        at_limit = hook.send(text="just in time")
        now[0] += timedelta(microseconds=1)
        too_late = hook.send(text="too late")

    assert at_limit.status_code == 200
    assert json.loads(too_late.body)["error"] == "expired_url"


def test_a_trigger_lives_three_seconds_and_opens_one_form() -> None:
    now = [datetime(2026, 11, 20, tzinfo=UTC)]
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "t"},
        "blocks": [],
    }
    with SlackSandbox(clock=lambda: now[0]) as slack:
        client = make_client(slack)
        triggers = [
            slack.command("mia", "gpu-costs", "x").trigger_id or "" for _ in range(2)
        ]
        client.views_open(trigger_id=triggers[0], view=view)
        errors = []
        now[0] += timedelta(seconds=4)
        for trigger in (*triggers, "invented"):
            with pytest.raises(SlackApiError) as caught:
                client.views_open(trigger_id=trigger, view=view)
            errors.append(caught.value.response["error"])

    assert errors == [
        "exchanged_trigger_id",
        "expired_trigger_id",
        "invalid_trigger_id",
    ]


def test_an_unknown_fault_is_named(slack: SlackSandbox) -> None:
    with pytest.raises(ValueError, match="earthquake"):
        slack.fault("earthquake")
