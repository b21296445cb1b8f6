from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from deploy.sandbox.slack import PostLimit, SlackSandbox
from tests.sandbox.slack.bolt import make_client


def refusal(call: Callable[[], object]) -> Any:
    with pytest.raises(SlackApiError) as caught:
        call()
    return caught.value.response


def test_the_bot_learns_who_it_is(slack: SlackSandbox, client: WebClient) -> None:
    answer = client.auth_test()

    assert answer["user_id"] == slack.workspace.app.bot_user_id
    assert answer["bot_id"] == slack.workspace.app.bot_id


@pytest.mark.parametrize(
    ("token", "error"),
    [
        ("", "not_authed"),
        ("xoxb-wrong", "invalid_auth"),
        ("app", "not_allowed_token_type"),
    ],
)
def test_a_wrong_token_is_refused(slack: SlackSandbox, token: str, error: str) -> None:
    actual = slack.workspace.app.app_token if token == "app" else token
    client = WebClient(token=actual, base_url=slack.api_url)

    assert refusal(client.auth_test)["error"] == error


def test_a_method_that_slack_has_not_is_unknown(client: WebClient) -> None:
    answer = refusal(lambda: client.api_call("chat.postTelegram"))

    assert answer["error"] == "unknown_method"


def test_a_missing_scope_says_what_is_needed(
    slack: SlackSandbox, client: WebClient
) -> None:
    slack.workspace.app.scopes = ("commands",)

    answer = refusal(lambda: client.chat_postMessage(channel="C0COSTS", text="hi"))

    assert answer["error"] == "missing_scope"
    assert answer["needed"] == "chat:write"
    assert answer["provided"] == "commands"
    assert answer.headers["x-oauth-scopes"] == "commands"


def test_an_email_is_hidden_without_its_scope(
    slack: SlackSandbox, client: WebClient
) -> None:
    scopes = slack.workspace.app.scopes
    slack.workspace.app.scopes = tuple(s for s in scopes if s != "users:read.email")

    profile = client.users_info(user="U0MIA")["user"]["profile"]

    assert "email" not in profile


@pytest.mark.parametrize(
    ("channel", "error"),
    [
        ("C0NOWHERE", "channel_not_found"),
        ("G0SECRET", "channel_not_found"),
        ("C0RANDOM", "not_in_channel"),
        ("C0OLD", "is_archived"),
    ],
)
def test_a_message_needs_an_open_channel_with_the_bot_in_it(
    client: WebClient, channel: str, error: str
) -> None:
    answer = refusal(lambda: client.chat_postMessage(channel=channel, text="hi"))

    assert answer["error"] == error


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, "no_text"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"text": "x", "attachments": [{"text": "a"}] * 101}, "too_many_attachments"),
        ({"text": "x", "blocks": "nonsense"}, "invalid_blocks_format"),
        ({"text": "x", "metadata": {"event_type": "e"}}, "invalid_metadata_schema"),
        ({"text": "x", "thread_ts": "1.000001"}, "thread_not_found"),
    ],
)
@pytest.mark.filterwarnings("ignore:The top-level `text` argument is missing")
@pytest.mark.filterwarnings("ignore:Additionally, the attachment-level")
def test_content_that_slack_does_not_take_is_refused(
    client: WebClient, fields: dict[str, Any], error: str
) -> None:
    answer = refusal(lambda: client.chat_postMessage(channel="C0COSTS", **fields))

    assert answer["error"] == error


def test_a_channel_may_be_named(slack: SlackSandbox, client: WebClient) -> None:
    client.chat_postMessage(channel="#gpu-costs", text="hello")

    assert [message.text for message in slack.messages("gpu-costs")] == ["hello"]


def test_a_person_is_written_to_in_a_direct_message(
    slack: SlackSandbox, client: WebClient
) -> None:
    answer = client.chat_postMessage(channel="U0MIA", text="your run idles")

    assert answer["channel"] == "D0MIA"
    assert slack.messages("D0MIA")[0].text == "your run idles"


def test_timestamps_are_unique_and_increase(client: WebClient) -> None:
    stamps = [
        client.chat_postMessage(channel="C0COSTS", text=str(n))["ts"] for n in range(20)
    ]

    assert sorted(set(stamps)) == stamps


def test_metadata_is_returned_to_who_asks_for_it(client: WebClient) -> None:
    metadata = {"event_type": "gpucost_notice", "event_payload": {"key": "n-1"}}
    client.chat_postMessage(channel="C0COSTS", text="notice", metadata=metadata)

    plain = client.conversations_history(channel="C0COSTS")
    full = client.conversations_history(channel="C0COSTS", include_all_metadata=True)

    assert "metadata" not in plain["messages"][0]
    assert full["messages"][0]["metadata"] == metadata


def test_history_comes_in_pages_newest_first(client: WebClient) -> None:
    for number in range(5):
        client.chat_postMessage(channel="C0COSTS", text=str(number))

    pages = [
        ([message["text"] for message in page["messages"]], page["has_more"])
        for page in client.conversations_history(channel="C0COSTS", limit=2)
    ]

    assert pages == [(["4", "3"], True), (["2", "1"], True), (["0"], False)]


def test_a_message_that_comes_between_two_pages_repeats_nothing(
    client: WebClient,
) -> None:
    for number in range(4):
        client.chat_postMessage(channel="C0COSTS", text=str(number))
    first = client.conversations_history(channel="C0COSTS", limit=2)
    client.chat_postMessage(channel="C0COSTS", text="late")

    cursor = first["response_metadata"]["next_cursor"]
    second = client.conversations_history(channel="C0COSTS", limit=2, cursor=cursor)

    assert [message["text"] for message in second["messages"]] == ["1", "0"]


def test_an_invented_cursor_is_refused(client: WebClient) -> None:
    answer = refusal(lambda: client.users_list(cursor="nonsense"))

    assert answer["error"] == "invalid_cursor"


def test_history_keeps_to_its_window(client: WebClient) -> None:
    stamps = [
        client.chat_postMessage(channel="C0COSTS", text=str(n))["ts"] for n in range(3)
    ]

    after = client.conversations_history(channel="C0COSTS", oldest=stamps[1])
    with_edge = client.conversations_history(
        channel="C0COSTS", oldest=stamps[1], inclusive=True
    )

    assert [message["text"] for message in after["messages"]] == ["2"]
    assert [message["text"] for message in with_edge["messages"]] == ["2", "1"]


def test_replies_stay_out_of_the_history_and_in_their_thread(
    slack: SlackSandbox, client: WebClient
) -> None:
    parent = client.chat_postMessage(channel="C0COSTS", text="digest")["ts"]
    client.chat_postMessage(channel="C0COSTS", text="more", thread_ts=parent)

    history = client.conversations_history(channel="C0COSTS")["messages"]
    thread = client.conversations_replies(channel="C0COSTS", ts=parent)["messages"]

    assert [message["text"] for message in history] == ["digest"]
    assert history[0]["reply_count"] == 1
    assert [message["text"] for message in thread] == ["digest", "more"]
    assert [message.text for message in slack.threads[parent]] == ["more"]


def test_an_update_keeps_the_blocks_it_does_not_mention(
    slack: SlackSandbox, client: WebClient
) -> None:
    divider = [{"type": "divider"}]
    ts = client.chat_postMessage(channel="C0COSTS", text="old", blocks=divider)["ts"]

    client.chat_update(channel="C0COSTS", ts=ts, text="new")

    message = slack.messages("C0COSTS")[0]
    assert message.text == "new"
    assert [block["type"] for block in message.blocks] == ["divider"]
    assert message.versions[0]["text"] == "old"


def test_only_the_bots_own_messages_can_be_changed(
    slack: SlackSandbox, client: WebClient
) -> None:
    slack.say("mia", "gpu-costs", "mine")
    ts = slack.messages("gpu-costs")[0].ts

    update = refusal(lambda: client.chat_update(channel="C0COSTS", ts=ts, text="no"))
    delete = refusal(lambda: client.chat_delete(channel="C0COSTS", ts=ts))
    missing = refusal(lambda: client.chat_update(channel="C0COSTS", ts="1.1", text="n"))

    assert update["error"] == "cant_update_message"
    assert delete["error"] == "cant_delete_message"
    assert missing["error"] == "message_not_found"


def test_a_deleted_message_is_gone(slack: SlackSandbox, client: WebClient) -> None:
    ts = client.chat_postMessage(channel="C0COSTS", text="oops")["ts"]

    client.chat_delete(channel="C0COSTS", ts=ts)

    assert slack.messages("C0COSTS") == []


def test_an_ephemeral_message_reaches_one_person_and_no_history(
    slack: SlackSandbox, client: WebClient
) -> None:
    client.chat_postEphemeral(channel="C0COSTS", user="U0MIA", text="only you")

    assert [message.text for message in slack.ephemerals("mia")] == ["only you"]
    assert slack.ephemerals("ada") == []
    assert client.conversations_history(channel="C0COSTS")["messages"] == []


def test_an_ephemeral_message_needs_a_member(client: WebClient) -> None:
    answer = refusal(
        lambda: client.chat_postEphemeral(channel="C0COSTS", user="U0GUEST", text="x")
    )

    assert answer["error"] == "user_not_in_channel"


def test_a_permalink_names_channel_and_message(client: WebClient) -> None:
    ts = client.chat_postMessage(channel="C0COSTS", text="x")["ts"]

    link = client.chat_getPermalink(channel="C0COSTS", message_ts=ts)["permalink"]

    digits = ts.replace(".", "")
    assert link == f"https://sandbox.slack.com/archives/C0COSTS/p{digits}"


def test_people_are_found_by_id_and_by_address(client: WebClient) -> None:
    person = client.users_lookupByEmail(email="ADA@example.com")["user"]
    guest = client.users_info(user="U0GUEST")["user"]
    stranger = client.users_info(user="U0EXT")["user"]

    assert person["id"] == "U0ADA"
    assert guest["is_restricted"]
    assert stranger["is_stranger"]


def test_people_who_do_not_exist_are_not_found(client: WebClient) -> None:
    by_email = refusal(lambda: client.users_lookupByEmail(email="no@example.com"))
    by_id = refusal(lambda: client.users_info(user="U0NOBODY"))

    assert by_email["error"] == "users_not_found"
    assert by_id["error"] == "user_not_found"


def test_groups_tell_their_members(client: WebClient) -> None:
    groups = client.usergroups_list(include_users=True)["usergroups"]
    users = client.usergroups_users_list(usergroup="S0FINANCE")["users"]

    assert {group["handle"] for group in groups} == {"gpu-approvers", "finance"}
    assert users == ["U0FIN"]


def test_private_channels_without_the_bot_are_not_listed(client: WebClient) -> None:
    kinds = "public_channel,private_channel"

    channels = client.conversations_list(types=kinds, exclude_archived=True)["channels"]

    assert {channel["name"] for channel in channels} == {
        "gpu-costs",
        "gpu-approvals",
        "random",
        "with-partner",
    }


def test_a_shared_channel_says_so(client: WebClient) -> None:
    channel = client.conversations_info(channel="C0SHARED")["channel"]
    members = client.conversations_members(channel="C0SHARED")["members"]

    assert channel["is_ext_shared"]
    assert "T0OTHER" in channel["shared_team_ids"]
    assert "U0EXT" in members


def test_an_uploaded_file_appears_in_the_channel(
    slack: SlackSandbox, client: WebClient
) -> None:
    client.files_upload_v2(
        channel="C0COSTS",
        filename="costs.csv",
        content="job,usd\n",
        initial_comment="the table",
    )

    message = slack.messages("C0COSTS")[0]
    assert message.text == "the table"
    assert message.files[0]["name"] == "costs.csv"
    assert slack.state.files[message.files[0]["id"]].content == b"job,usd\n"


def test_more_than_a_burst_of_messages_is_limited() -> None:
    now_s = [100.0]
    limit = PostLimit(per_s=1.0, burst=2, now_s=lambda: now_s[0])
    with SlackSandbox(post_limit=limit) as slack:
        client = make_client(slack)
        for _ in range(2):
            client.chat_postMessage(channel="C0COSTS", text="x")

        limited = refusal(lambda: client.chat_postMessage(channel="C0COSTS", text="x"))
        elsewhere = client.chat_postMessage(channel="C0APPROVE", text="x")
        now_s[0] += 1.0
        later = client.chat_postMessage(channel="C0COSTS", text="x")

    assert limited.status_code == 429
    assert limited.headers["Retry-After"] == "1"
    assert elsewhere["ok"]
    assert later["ok"]


def test_every_call_is_remembered_without_its_token(
    slack: SlackSandbox, client: WebClient
) -> None:
    client.chat_postMessage(channel="C0COSTS", text="hi")

    call = slack.calls("chat.postMessage")[0]
    assert call.ok
    assert call.args["text"] == "hi"
    assert "xoxb" not in repr(call.args)
