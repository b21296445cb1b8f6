from __future__ import annotations

import pytest
from slack_sdk import WebClient

from deploy.sandbox.slack import SlackSandbox
from deploy.sandbox.slack.mentions import mentions_of

INJECTED = "<!channel> <@U0ADA> <https://evil.example|AWS console> A&B *bold*"


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# C108
def test_an_injected_mention_is_detected(
    slack: SlackSandbox, client: WebClient
) -> None:
    client.chat_postMessage(channel="C0COSTS", text=f"job {INJECTED} is idle")

    message = slack.rings[0]
    assert [(item.kind, item.target) for item in message.rings] == [
        ("broadcast", "channel"),
        ("user", "U0ADA"),
    ]


# C108
def test_escaped_text_rings_nobody_and_links_nowhere(
    slack: SlackSandbox, client: WebClient
) -> None:
    own = "<https://ok.example|open>"
    client.chat_postMessage(channel="C0COSTS", text=f"{escaped(INJECTED)} {own}")

    message = slack.messages("C0COSTS")[0]
    assert slack.rings == []
    assert [(item.kind, item.target) for item in message.mentions] == [
        ("link", "https://ok.example")
    ]


@pytest.mark.parametrize(
    ("block", "rings"),
    [
        ({"type": "section", "text": {"type": "mrkdwn", "text": "<!here>"}}, True),
        ({"type": "section", "text": {"type": "plain_text", "text": "<!here>"}}, False),
        ({"type": "header", "text": {"type": "plain_text", "text": "<!here>"}}, False),
        ({"type": "context", "elements": [{"type": "mrkdwn", "text": "<@U1>"}]}, True),
        ({"type": "markdown", "text": "hello <!subteam^S1>"}, True),
        (
            {
                "type": "data_table",
                "caption": "c",
                "rows": [[{"type": "raw_text", "text": "<!channel>"}]] * 2,
            },
            False,
        ),
        (
            {
                "type": "rich_text",
                "elements": [
                    {
                        "type": "rich_text_section",
                        "elements": [{"type": "broadcast", "range": "here"}],
                    }
                ],
            },
            True,
        ),
    ],
    ids=["mrkdwn", "plain", "header", "context", "markdown", "raw-cell", "rich"],
)
def test_only_parsed_places_ring(block: dict[str, object], *, rings: bool) -> None:
    found = mentions_of({"text": "", "blocks": [block]})

    assert any(item.rings for item in found) is rings


def test_attachments_and_fallbacks_ring_too() -> None:
    found = mentions_of({"attachments": [{"fallback": "<!everyone>"}]})

    assert [item.where for item in found] == ["attachments[0].fallback"]


def test_bare_names_ring_only_when_slack_is_asked_to_link_them(
    slack: SlackSandbox, client: WebClient
) -> None:
    client.chat_postMessage(channel="C0COSTS", text="hello @channel and @ada")
    quiet = slack.rings
    client.chat_postMessage(channel="C0COSTS", text="hello @channel", link_names=True)

    assert quiet == []
    assert len(slack.rings) == 1
