"""The notifier against the Slack double: effects, doubts and what is final."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from slack_sdk import WebClient

from bot.ports import OutboxMessage, SlackFailedError
from bot.slack.answering import payload_of
from bot.slack.client import build_client, connect
from bot.slack.notifier import SlackNotifier
from bot.views.approval import approval_card, decided_card
from bot.views.cost import cost_answer
from bot.views.native import has_native
from deploy.sandbox.slack import SlackSandbox
from policies.core.approvals import RequestState
from tests.builders_bot import NOW, PEOPLE, make_job_answer, make_request, make_vote

CHANNEL = "C0COSTS"


def effect(**values: Any) -> OutboxMessage:
    defaults: dict[str, Any] = {
        "key": "finding:1",
        "kind": "post",
        "channel": CHANNEL,
        "payload": {"text": "hello"},
    }
    return OutboxMessage(**(defaults | values))


def since() -> datetime:
    return datetime.now(UTC) - timedelta(hours=1)


def failure(notifier: SlackNotifier, message: OutboxMessage) -> SlackFailedError:
    with pytest.raises(SlackFailedError) as caught:
        notifier.deliver(message)
    return caught.value


def test_post_carries_its_key_and_can_be_found(
    slack: SlackSandbox, client: WebClient
) -> None:
    notifier = SlackNotifier(client)
    for number in range(3):
        notifier.deliver(effect(key=f"other:{number}"))

    posted = notifier.deliver(effect())

    assert posted.channel == CHANNEL
    assert notifier.find_posted(effect(), since()) == posted
    assert notifier.find_posted(effect(key="finding:2"), since()) is None


# S1: the request was done but its answer was lost
def test_lost_answer_may_have_happened_and_is_found(
    slack: SlackSandbox, client: WebClient
) -> None:
    notifier = SlackNotifier(client)
    slack.fault("drop_after", "chat.postMessage")

    error = failure(notifier, effect())

    assert error.may_have_happened
    assert not error.is_final
    assert notifier.find_posted(effect(), since()) is not None
    assert len(slack.messages(CHANNEL)) == 1


def test_channels_are_found_by_name(slack: SlackSandbox, client: WebClient) -> None:
    posted = SlackNotifier(client).deliver(effect(channel="#gpu-costs"))

    assert posted.channel == CHANNEL


def test_person_gets_a_direct_message(slack: SlackSandbox, client: WebClient) -> None:
    notifier = SlackNotifier(client)

    posted = notifier.deliver(effect(channel="U0MIA"))

    assert posted.channel.startswith("D")
    assert notifier.find_posted(effect(channel="U0MIA"), since()) == posted


def test_card_is_rewritten_and_keeps_its_key(
    slack: SlackSandbox, client: WebClient
) -> None:
    notifier = SlackNotifier(client)
    card = payload_of(approval_card(make_request(), people=PEOPLE, now=NOW))
    posted = notifier.deliver(effect(payload=card))
    decided = make_request(
        state=RequestState.APPROVED, decided_at=NOW, votes=(make_vote(),)
    )

    notifier.deliver(
        effect(
            key="finding:1:decided",
            kind="update",
            ref="finding:1",
            payload=payload_of(decided_card(decided, people=PEOPLE)),
        ),
        target_ts=posted.ts,
    )

    (message,) = slack.messages(CHANNEL)
    assert message.text.startswith("Approved")
    assert "actions" not in {block["type"] for block in message.blocks}
    assert notifier.find_posted(effect(), since()) == posted


def test_reply_goes_into_the_thread_and_is_found(
    slack: SlackSandbox, client: WebClient
) -> None:
    notifier = SlackNotifier(client)
    parent = notifier.deliver(effect(key="digest:0"))
    reply = effect(key="digest:1", thread_of="digest:0")

    posted = notifier.deliver(reply, thread_ts=parent.ts)

    assert [one.ts for one in slack.threads[parent.ts]] == [posted.ts]
    assert notifier.find_posted(reply, since()) == posted


def test_ephemeral_is_seen_by_one_person(
    slack: SlackSandbox, client: WebClient
) -> None:
    SlackNotifier(client).deliver(effect(kind="ephemeral", user="U0MIA"))

    assert [message.text for message in slack.ephemerals("U0MIA")] == ["hello"]
    assert slack.messages(CHANNEL) == []


def test_charts_become_text_where_slack_has_none(
    slack: SlackSandbox, client: WebClient
) -> None:
    slack.refuse_data_blocks()
    payload = payload_of(cost_answer(make_job_answer()))
    assert has_native(payload["blocks"])

    SlackNotifier(client).deliver(effect(payload=payload))

    (message,) = slack.messages(CHANNEL)
    assert not has_native(message.blocks)
    assert "█" in str(message.blocks)


def test_blocks_that_are_wrong_anyway_are_final(
    slack: SlackSandbox, client: WebClient
) -> None:
    payload = {"text": "x", "blocks": [{"type": "section"}]}

    error = failure(SlackNotifier(client), effect(payload=payload))

    assert error.code == "invalid_blocks"
    assert error.is_final


# C113
@pytest.mark.parametrize(
    ("channel", "code"),
    [
        ("C0OLD", "is_archived"),
        ("C0RANDOM", "not_in_channel"),
        ("C0NOSUCH", "channel_not_found"),
        ("#no-such-channel", "channel_not_found"),
    ],
)
def test_channels_that_cannot_be_posted_to_are_final(
    channel: str, code: str, slack: SlackSandbox, client: WebClient
) -> None:
    error = failure(SlackNotifier(client), effect(channel=channel))

    assert (error.code, error.is_final, error.may_have_happened) == (code, True, False)


@pytest.mark.parametrize("code", ["token_revoked", "invalid_auth", "account_inactive"])
def test_refused_token_is_final(
    code: str, slack: SlackSandbox, client: WebClient
) -> None:
    slack.revoke_token(code)

    error = failure(SlackNotifier(client), effect())

    assert (error.code, error.is_final) == (code, True)


# C111
def test_rate_limit_says_how_long_to_wait_and_tries_once(
    slack: SlackSandbox, client: WebClient
) -> None:
    slack.fault("throttle", "chat.postMessage", retry_after_s=30)

    error = failure(SlackNotifier(client), effect())

    assert (error.code, error.retry_after_s) == ("ratelimited", 30.0)
    assert not error.may_have_happened
    assert len(slack.calls("chat.postMessage")) == 1


@pytest.mark.parametrize("status", [500, 502, 503])
def test_server_errors_may_have_happened_and_are_not_repeated(
    status: int, slack: SlackSandbox, client: WebClient
) -> None:
    slack.fault("fail", "chat.postMessage", status=status)

    error = failure(SlackNotifier(client), effect())

    assert error.may_have_happened
    assert not error.is_final
    assert len(slack.calls("chat.postMessage")) == 1


def test_truncated_answer_may_have_happened(
    slack: SlackSandbox, client: WebClient
) -> None:
    slack.fault("truncate", "chat.postMessage")

    assert failure(SlackNotifier(client), effect()).may_have_happened


def test_refused_connection_did_not_happen() -> None:
    client = build_client("xoxb-planted", api_url="http://127.0.0.1:9/api/")

    error = failure(SlackNotifier(client), effect())

    assert (error.code, error.may_have_happened) == ("unreachable", False)
    assert not error.is_final


def test_history_that_cannot_be_read_is_no_absence(
    slack: SlackSandbox, client: WebClient
) -> None:
    slack.fault("fail", "conversations.history", status=503)

    with pytest.raises(SlackFailedError):
        SlackNotifier(client).find_posted(effect(), since())


def test_errors_hold_no_token(slack: SlackSandbox, client: WebClient) -> None:
    slack.revoke_token("invalid_auth")

    error = failure(SlackNotifier(client), effect())

    assert slack.workspace.app.bot_token not in f"{error!r} {error}"


def test_connecting_says_who_we_are(slack: SlackSandbox, client: WebClient) -> None:
    home = connect(client)

    assert home.team_id == slack.workspace.team_id
    assert home.bot_user_id == slack.workspace.app.bot_user_id
