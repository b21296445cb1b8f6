from __future__ import annotations

from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from deploy.sandbox.slack import SlackSandbox
from deploy.sandbox.slack.blocks import block_problems, view_problems

Json = dict[str, Any]


def text(length: int, kind: str = "mrkdwn") -> Json:
    return {"type": kind, "text": "x" * length}


def section(length: int = 1, **more: object) -> Json:
    return {"type": "section", "text": text(length), **more}


def button(**more: object) -> Json:
    return {"type": "button", "action_id": "a", "text": text(4, "plain_text"), **more}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def options(count: int, length: int = 3) -> list[Json]:
    return [{"text": text(length, "plain_text"), "value": str(n)} for n in range(count)]


def table(rows: int = 2, columns: int = 1, **more: object) -> Json:
    cell = {"type": "raw_text", "text": "x"}
    return {
        "type": "data_table",
        "caption": "costs",
        "rows": [[cell] * columns for _ in range(rows)],
        **more,
    }


def chart(
    labels: int = 2, series: int = 1, title: str = "costs", **axis: object
) -> Json:
    names = [f"l{n}" for n in range(labels)]
    data = [{"label": name, "value": 1.5} for name in names]
    return {
        "type": "data_visualization",
        "title": title,
        "chart": {
            "type": "bar",
            "series": [{"name": f"s{n}", "data": data} for n in range(series)],
            "axis_config": {"categories": names, **axis},
        },
    }


ALLOWED = {
    "section": [section(3000)],
    "fields": [{"type": "section", "fields": [text(2000)] * 10}],
    "fifty": [section()] * 50,
    "header": [{"type": "header", "text": text(150, "plain_text")}],
    "button": [actions(button(value="v" * 2000, text=text(75, "plain_text")))],
    "actions": [actions(*(button(action_id=str(n)) for n in range(25)))],
    "context": [{"type": "context", "elements": [text(1)] * 10}],
    "markdown": [{"type": "markdown", "text": "x" * 12_000}],
    "table": [table(101, 20, page_size=100)],
    "chart": [chart(20, 6), chart()],
    "select": [
        actions({"type": "static_select", "action_id": "s", "options": options(100)})
    ],
}

REFUSED = {
    "section-too-long": [section(3001)],
    "section-empty": [{"type": "section"}],
    "section-empty-text": [section(0)],
    "field-too-long": [{"type": "section", "fields": [text(2001)]}],
    "too-many-fields": [{"type": "section", "fields": [text(1)] * 11}],
    "too-many-blocks": [section()] * 51,
    "header-too-long": [{"type": "header", "text": text(151, "plain_text")}],
    "header-mrkdwn": [{"type": "header", "text": text(5)}],
    "button-text": [actions(button(text=text(76, "plain_text")))],
    "button-value": [actions(button(value="v" * 2001))],
    "button-style": [actions(button(style="loud"))],
    "action-id": [actions(button(action_id="a" * 256))],
    "same-action-id": [actions(button(), button())],
    "block-id": [section(block_id="b" * 256)],
    "same-block-id": [section(block_id="b"), section(block_id="b")],
    "too-many-elements": [actions(*(button(action_id=str(n)) for n in range(26)))],
    "context-elements": [{"type": "context", "elements": [text(1)] * 11}],
    "overflow": [
        actions({"type": "overflow", "action_id": "o", "options": options(6)})
    ],
    "option-text": [
        actions({"type": "static_select", "action_id": "s", "options": options(1, 76)})
    ],
    "select-options": [
        actions({"type": "static_select", "action_id": "s", "options": options(101)})
    ],
    "alt-text": [{"type": "image", "image_url": "https://x", "alt_text": "a" * 2001}],
    "unknown-type": [{"type": "sektion"}],
    "not-an-object": ["text"],
    "markdown-total": [{"type": "markdown", "text": "x" * 6001}] * 2,
    "table-rows": [table(102)],
    "table-only-header": [table(1)],
    "table-columns": [table(2, 21)],
    "table-caption": [table(caption="")],
    "table-page": [table(page_size=101)],
    "table-ragged": [
        table() | {"rows": [[{"type": "raw_text", "text": "x"}] * n for n in (1, 2)]}
    ],
    "table-characters": [
        table() | {"rows": [[{"type": "raw_text", "text": "x" * 5001}]] * 2}
    ],
    "table-number-without-text": [
        table() | {"rows": [[{"type": "raw_number", "value": 1}]] * 2}
    ],
    "chart-title": [chart(title="t" * 51)],
    "chart-series": [chart(series=7)],
    "chart-categories": [chart(21)],
    "chart-labels-differ": [chart(categories=["other", "l1"])],
    "chart-label": [chart(categories=["c" * 21, "l1"])],
    "three-charts": [chart()] * 3,
    "modal-input-in-actions": [actions({"type": "plain_text_input", "action_id": "i"})],
}


@pytest.mark.parametrize("blocks", ALLOWED.values(), ids=ALLOWED.keys())
def test_blocks_at_their_limit_are_taken(blocks: list[Json]) -> None:
    assert block_problems(blocks) == []


@pytest.mark.parametrize("blocks", REFUSED.values(), ids=REFUSED.keys())
def test_blocks_beyond_a_limit_are_refused(blocks: list[Json]) -> None:
    assert block_problems(blocks) != []


def test_a_home_tab_takes_a_hundred_blocks() -> None:
    home: Json = {"type": "home", "blocks": [section()] * 100}

    assert view_problems(home) == []
    assert view_problems(home | {"blocks": [section()] * 101}) != []


# C104
def test_the_answer_says_where_the_problem_is(client: WebClient) -> None:
    blocks = [section(), section(3001)]

    with pytest.raises(SlackApiError) as caught:
        client.chat_postMessage(channel="C0COSTS", text="x", blocks=blocks)

    answer = caught.value.response
    assert answer["error"] == "invalid_blocks"
    assert answer["response_metadata"]["messages"] == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/1/text/text]"
    ]


def test_a_workspace_can_refuse_the_data_blocks(
    slack: SlackSandbox, client: WebClient
) -> None:
    slack.refuse_data_blocks()

    with pytest.raises(SlackApiError) as caught:
        client.chat_postMessage(channel="C0COSTS", text="x", blocks=[chart()])
    slack.refuse_data_blocks(on=False)
    taken = client.chat_postMessage(channel="C0COSTS", text="x", blocks=[chart()])

    assert caught.value.response["error"] == "invalid_blocks"
    assert taken["ok"]


def test_blocks_without_ids_get_some(slack: SlackSandbox, client: WebClient) -> None:
    first = {"type": "button", "text": text(4, "plain_text")}
    blocks = [section(), actions(first)]

    client.chat_postMessage(channel="C0COSTS", text="x", blocks=blocks)

    named = slack.messages("C0COSTS")[0].blocks
    assert len({block["block_id"] for block in named}) == 2
    assert named[1]["elements"][0]["action_id"]
