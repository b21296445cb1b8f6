"""Answers by response URL, and the other way when it is used up: C103, H11."""

from __future__ import annotations

import pytest
from slack_sdk import WebClient

from bot.ports import Message, SlackFailedError
from bot.slack.answering import Reply, is_allowed_url
from bot.views.cost import cost_answer
from bot.views.errors import note
from bot.views.native import has_native
from deploy.sandbox.slack import SlackSandbox
from tests.builders_bot import make_job_answer

API = "https://slack.com/api/"


def reply_to(slack: SlackSandbox, client: WebClient) -> Reply:
    """Return where Mia waits, after she typed a command that nobody hears."""
    interaction = slack.command("U0MIA", "C0COSTS", "job-123")
    assert interaction.right is not None
    url = interaction.delivery.payload["response_url"]
    return Reply(
        client=client, channel_id="C0COSTS", user_id="U0MIA", response_url=str(url)
    )


def texts(slack: SlackSandbox) -> list[str]:
    return [message.text for message in slack.ephemerals("U0MIA")]


def test_answer_comes_by_the_response_url(
    slack: SlackSandbox, client: WebClient
) -> None:
    reply_to(slack, client).send([note("one"), note("two")])

    assert texts(slack) == ["one", "two"]
    assert slack.calls("chat.postEphemeral") == []


# C103
def test_sixth_answer_takes_the_other_way(
    slack: SlackSandbox, client: WebClient
) -> None:
    reply_to(slack, client).send([note(f"part {index}") for index in range(7)])

    assert texts(slack) == [f"part {index}" for index in range(7)]
    assert len(slack.calls("chat.postEphemeral")) == 2


# C103
def test_used_up_url_of_an_earlier_answer_takes_the_other_way(
    slack: SlackSandbox, client: WebClient
) -> None:
    reply = reply_to(slack, client)
    reply.send([note(f"part {index}") for index in range(5)])

    reply.send([note("late")])

    assert texts(slack)[-1] == "late"
    assert len(slack.calls("chat.postEphemeral")) == 1


# C103
@pytest.mark.parametrize("status", [404, 500])
def test_expired_or_broken_url_takes_the_other_way(
    status: int, slack: SlackSandbox, client: WebClient
) -> None:
    slack.fault("fail", "response_url", status=status, error="expired_url")

    reply_to(slack, client).send([note("late")])

    assert texts(slack) == ["late"]


def test_charts_become_text_where_slack_has_none(
    slack: SlackSandbox, client: WebClient
) -> None:
    slack.refuse_data_blocks()

    reply_to(slack, client).send([cost_answer(make_job_answer())])

    (message,) = slack.ephemerals("U0MIA")
    assert not has_native(message.blocks)


def test_neither_way_is_a_failure_and_no_silence(
    slack: SlackSandbox, client: WebClient
) -> None:
    reply = reply_to(slack, client)
    slack.fault("fail", "response_url", status=500)
    slack.fault("fail", "chat.postEphemeral", status=200, error="channel_not_found")

    with pytest.raises(SlackFailedError):
        reply.send([note("late")])


# H11
@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:8080/x",
        "https://hooks.slack.com@169.254.169.254/x",
        "https://hooks.slack.com.evil.example/x",
        "https://user:pass@hooks.slack.com/x",
        "http://hooks.slack.com/x",
        "https://hooks.slack.com:8443/x",
        "file:///etc/passwd",
        "https://[::1",
        "",
    ],
)
def test_other_hosts_are_never_called(url: str, client: WebClient) -> None:
    assert not is_allowed_url(url, API)


def test_slacks_own_hosts_are_called() -> None:
    assert is_allowed_url("https://hooks.slack.com/commands/T1/2/3", API)
    assert is_allowed_url("https://hooks.slack-gov.com/commands/T1/2/3", API)


# H11
def test_answer_to_a_strange_url_goes_the_other_way(
    slack: SlackSandbox, client: WebClient
) -> None:
    reply = Reply(
        client=client,
        channel_id="C0COSTS",
        user_id="U0MIA",
        response_url="http://169.254.169.254/latest",
    )

    reply.send([Message(text="safe")])

    assert texts(slack) == ["safe"]
